#include "server/Scheduler.h"

#include "LogSink.h"
#include "errors.h"

namespace concertina {

Scheduler::Scheduler(llama_context * context, int slots) {
    params.context_shared = context;
    params.n_parallel = slots;
    params.kv_unified = true;
    params.warmup = false;
    params.fit_params = false;
    params.cache_ram_mib = 0; // our session files keep what leaves the slots
    params.n_ctx_checkpoints = 0; // of windows and recurrent states, in memory that no estimate counts yet
    params.ctx_shift = false; // what leaves a chat is chosen by message, not by token
    // never the model's own, which may run without end: prompts come in as tokens (model/TemplateLimits.h)
    params.chat_template = "chatml";
    const LogSink::Capture log;
    if (!server.load_model(params))
        throw CodedError(
            "context-invalid", withLog("The context cannot answer", log.errors()), "Choose another model.");
    loop = std::thread([this] { server.start_loop(); });
    call([] {}); // terminate() before the loop runs would be lost
}

Scheduler::~Scheduler() {
    server.terminate();
    loop.join();
}

std::vector<llama_token> Scheduler::tokens(int slot) {
    std::vector<llama_token> found;
    call([&] {
        llama_synchronize(server.get_llama_context());
        found = server_slots_access::tokens(server, slot);
    });
    return found;
}

std::vector<llama_token> Scheduler::adopt(const std::function<std::vector<llama_token>()> & change, int slot) {
    std::vector<llama_token> left;
    call([&] {
        left = change();
        server_slots_access::set_tokens(server, slot, left);
    });
    return left;
}

} // namespace concertina
