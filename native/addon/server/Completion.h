// One answer of the window: a prompt in tokens for upstream's server core, and what it sends back, in upstream's own words. Runs on
// a worker thread, while the core decodes on its own.
#pragma once

#include "fields.h"
#include "context/Context.h"

#include <functional>
#include <string>
#include <vector>

namespace concertina {

struct CompletionRequest {
    std::vector<llama_token> tokens; // of the prompt
    std::string params; // see Scheduler::task
    bool draft = false; // tokens are drafted from the first one on, where the context can
    int64_t called = ggml_time_us();
};

struct CompletionStep {
    std::string result; // JSON: a part of the stream of llama-server's POST /completion
    double elapsedMs = 0; // from the call to the choice of the token; 0: there is none
    bool end = false; // the token is a mark of the end

    CONCERTINA_FIELDS(result, elapsedMs, end)
};

// llama_perf_context of this answer alone. A batch of one token counts as a step of the answer, whatever it is part of.
struct UpstreamTimings {
    double promptMs = 0, decodeMs = 0;
    size_t promptTokens = 0, decodeTokens = 0;

    CONCERTINA_FIELDS(promptMs, decodeMs, promptTokens, decodeTokens)
};

struct Completed {
    size_t kept = 0; // of the prompt, in the cache when the answer was asked for
    UpstreamTimings upstream;

    CONCERTINA_FIELDS(kept, upstream)
};

// Returns soon after the context's job is canceled, too; what was chosen before that is sent. Throws `bad-request` for parameters
// that cannot be used.
Completed complete(Context & context, CompletionRequest request, const std::function<void(CompletionStep)> & send);

} // namespace concertina
