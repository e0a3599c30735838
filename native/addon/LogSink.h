// llama.cpp has one logger for the whole process and calls it from any thread. This is that logger: it hands lines to
// listeners (one per JavaScript environment) and keeps the error lines of the thread that is inside a call, so that a
// failed call can name the real reason.
#pragma once

#include "ggml.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace concertina {

class LogSink {
public:
    using Listener = std::function<void(ggml_log_level level, const std::string & text)>;

    static LogSink & shared();

    int add(Listener listener);
    void remove(int id);

    // collects the warnings and errors that this thread logs while the object lives
    class Capture {
    public:
        Capture();
        ~Capture();
        Capture(const Capture &) = delete;
        Capture & operator=(const Capture &) = delete;

        // error lines without upstream's function names, joined; the last words of the failing call
        std::string errors() const;
        void line(ggml_log_level level, const std::string & text);

    private:
        Capture * outer;
        std::string collected;
    };

private:
    LogSink();
    static void onLog(ggml_log_level level, const char * text, void * self);
    void publish(ggml_log_level level, const std::string & text);

    std::mutex mutex;
    std::map<int, Listener> listeners;
    int nextId = 1;
};

} // namespace concertina
