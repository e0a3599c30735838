// Upstream's server core (tools/server, server_context) on a context of ours: it schedules answers over slots, keeps the longest
// common prefix of a prompt in its slot, samples and streams. One thread of its own decodes.
#pragma once

#include "server-context.h"
#include "server-slots.h"

#include <functional>
#include <thread>
#include <vector>

namespace concertina {

class Scheduler {
public:
    // `context` and its model belong to the caller and outlive the scheduler. Its cells are cleared. `slots`: answers at a time, at
    // most llama_n_seq_max(context). Throws `context-invalid`.
    Scheduler(llama_context * context, int slots);
    // waits for the batch that is being decoded
    ~Scheduler();
    Scheduler(const Scheduler &) = delete;
    Scheduler & operator=(const Scheduler &) = delete;

    server_response_reader reader() { return server.get_response_reader(); }
    // on the thread that decodes, between two batches; returns when `body` has
    void call(const std::function<void()> & body) { server_slots_access::call(server, body); }

    // Tokens whose cells are in a slot, when all work on them is done: also what an aborted batch evaluated is counted then.
    std::vector<llama_token> tokens(int slot = 0);
    // Runs `change`, which writes or removes cells of the slot's sequence, and returns the tokens of what is there afterward;
    // so does this.
    std::vector<llama_token> adopt(const std::function<std::vector<llama_token>()> & change, int slot = 0);

private:
    common_params params;
    server_context server;
    std::thread loop;
};

} // namespace concertina
