// A thread with the stack of a main thread: chat templates may be nested deeply, and std::thread has 512 KiB on macOS.
#pragma once

#include <functional>
#include <utility>

#ifdef _WIN32
#include <thread>
#else
#include <pthread.h>

#include <system_error>
#endif

namespace concertina {

#ifdef _WIN32
using Thread = std::thread;
#else
// As std::thread, which it stands for.
class Thread {
public:
    Thread() = default;
    explicit Thread(std::function<void()> body) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, size_t(8) << 20);
        auto * given = new std::function<void()>(std::move(body));
        const int error = pthread_create(&handle, &attributes, run, given);
        pthread_attr_destroy(&attributes);
        if (error == 0) return;
        delete given;
        throw std::system_error(error, std::generic_category(), "A thread could not be started");
    }
    void join() { pthread_join(handle, nullptr); }
    void detach() { pthread_detach(handle); }

private:
    static void * run(void * given) {
        auto * body = static_cast<std::function<void()> *>(given);
        (*body)();
        delete body;
        return nullptr;
    }

    pthread_t handle{};
};
#endif

} // namespace concertina
