// Upstream's server core (tools/server, server_context) on a context of ours: it schedules answers over slots, keeps the longest
// common prefix of a prompt in its slot, samples and streams. One thread of its own decodes.
#pragma once

#include "fields.h"
#include "Thread.h"

#include "server-context.h"
#include "server-slots.h"

#include <atomic>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace concertina {

// To one of the HTTP handlers of llama-server.
struct ApiRequest {
    std::string handler; // of upstream's server_routes: "post_chat_completions"
    std::string path, query;
    std::map<std::string, std::string> params; // of path and query: "id_slot"
    std::string body;

    CONCERTINA_FIELDS(handler, path, query, params, body)
};

struct ApiPart {
    std::optional<int> status; // of the first part alone
    std::string contentType; // of the first part alone
    std::map<std::string, std::string> headers; // of the first part alone
    std::string data;

    CONCERTINA_FIELDS(status, contentType, headers, data)
};

inline bool isMedia(llama_token number) { return number < LLAMA_TOKEN_NULL; }

class Scheduler {
public:
    // `context` and its model belong to the caller and outlive the scheduler. Its cells are cleared. `params`: see coreParams;
    // n_parallel at most llama_n_seq_max(context). `requestsDraft`: tokens of requests of the API are drafted, too, where there is
    // speculative decoding; nothing measures whether that pays. Throws `context-invalid`.
    Scheduler(llama_context * context, common_params params, bool requestsDraft);
    // waits for the batch that is being decoded
    ~Scheduler();
    Scheduler(const Scheduler &) = delete;
    Scheduler & operator=(const Scheduler &) = delete;

    // An answer to the prompt, streamed. `body`: JSON of llama-server's POST /completion. Throws `bad-request`.
    server_task task(const std::string & body, server_tokens tokens, int slot) const;
    server_response_reader reader() { return server.get_response_reader(); }
    bool shared() const { return params.n_parallel > 1; } // with requests of the API
    // on the thread that decodes, between two batches; returns when `body` has
    void call(const std::function<void()> & body) { server_slots_access::call(server, body); }

    // Inside `call` only. Tokens whose cells are in a slot, when all work on them is done: also what an aborted batch evaluated is
    // counted then.
    const server_tokens & tokens(int slot) const;
    // Inside `call` only. See server_slots_access.
    std::list<common_prompt_checkpoint> & checkpoints(int slot) {
        return server_slots_access::checkpoints(server, slot);
    }
    // The slot for an answer to this prompt, `slot` if no request uses it, with what there is in RAM of the prompt.
    int prepare(int slot, const server_tokens & prompt);
    // of the model that drafts; none: no model does
    llama_context * draft() const { return server_slots_access::draft(server); }
    bool speculates() const { return server_slots_access::can_speculate(server); }
    // Whether tokens are drafted for the answer in this slot. Returns how many were written before, -1: not now.
    int64_t speculate(int slot, bool on);
    // after an answer
    void speculateAsRequests(int slot) { speculate(slot, requestsDraft); }
    // Inside `call` only. What the prompt cache in RAM holds now.
    size_t promptCacheBytes() const { return server_slots_access::prompt_cache_bytes(server); }
    // Inside `call` only. Whether a slot holds these tokens and no request changes them.
    bool holds(int slot, const std::vector<llama_token> & tokens) const;
    // Inside `call` only. After cells were written behind those of a slot that no request uses.
    void append(int slot, const std::vector<llama_token> & added);
    // Runs `change` with a slot that no request uses, all others of which are emptied. It writes or removes cells of the slot's
    // sequence and returns the tokens of what is there afterward; `states` are checkpoints of these. Returns the slot. Throws
    // `busy` when all slots are in use.
    int adopt(const std::function<server_tokens(int slot)> & change, std::list<common_prompt_checkpoint> states);
    // images or sound can be among the tokens of its slots
    bool sees() const { return server_slots_access::media(server) != nullptr; }
    // A prompt with upstream's marker for each image and sound, as libmtmd cuts it. `count`: for their numbers alone. Any
    // thread. Throws `bad-request` where there is no projector for them, or they cannot be read.
    server_tokens read(const std::string & prompt, const std::vector<raw_buffer> & files, bool count) const;
    // For comparing and counting: text as it is, and for each cell of an image or sound a number below LLAMA_TOKEN_NULL that its
    // content and the projector give it.
    std::vector<llama_token> numbersOf(const server_tokens & tokens) const;

    // Blocks until the response is complete, or until `cancel` is set: then up to a second longer. Throws `bad-request` for a
    // handler that there is not.
    void respond(
        const ApiRequest & request, const std::atomic<bool> & cancel, const std::function<void(ApiPart)> & send);

private:
    // on the thread of the loop; false: `made` has the reason
    bool make(std::promise<void> & made);
    server_http_context::handler_t & handlerOf(const std::string & name);

    llama_context * const context;
    const bool requestsDraft;
    common_params params;
    const uint64_t projector; // of its file; 0: there is none
    server_context server;
    server_routes routes;
    Thread loop;
};

} // namespace concertina
