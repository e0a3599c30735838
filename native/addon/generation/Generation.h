// One answer: a prompt for upstream's server core, and what it sends back as events of ours. Runs on a worker thread, while the
// core decodes on its own.
#pragma once

#include "fields.h"
#include "context/Context.h"
#include "generation/AnswerStream.h"
#include "generation/Sampler.h"
#include "generation/Speculation.h"
#include "server/Scheduler.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace concertina {

// an answer is not continued with a grammar, which would begin again
struct GenerateRequest : PromptOptions, GrammarOptions {
    std::vector<ChatMessage> messages; // empty: `tokens` are continued as they are
    std::vector<llama_token> tokens;
    SamplingOptions sampling;
    std::vector<std::string> stop;
    int maxTokens = 0;
    int candidates = 0; // likeliest tokens to report at each step
    bool ignoreEnd = false; // no mark of the end is chosen: for measurements
    DraftTrial trial; // of the chat, where the context can draft tokens
    int64_t called = ggml_time_us();

    CONCERTINA_FIELDS(sampling, now, thinking, templateVariables, jsonSchema, grammar, continueFrom, stop, maxTokens,
        candidates, ignoreEnd, trial)
};

struct PrefillProgress {
    size_t promptTokens = 0, cachedTokens = 0, done = 0;
    double elapsedMs = 0;

    CONCERTINA_FIELDS(promptTokens, cachedTokens, done, elapsedMs)
};

struct GenerateChunk {
    std::string text, thinking;
    size_t answerTokens = 0, contextUsed = 0;
    double elapsedMs = 0; // from the call to the choice of the last token
    std::optional<llama_token> token; // chosen in this step; none: text that was held back, and no step
    std::vector<Candidate> candidates;
    Drafts drafts; // so far

    CONCERTINA_FIELDS(text, thinking, answerTokens, contextUsed, elapsedMs, token, candidates, drafts)
};

// llama_perf_context of this answer alone. A batch of one token counts as a step of the answer, whatever it is part of.
struct UpstreamTimings {
    double promptMs = 0, decodeMs = 0;
    size_t promptTokens = 0, decodeTokens = 0;

    CONCERTINA_FIELDS(promptMs, decodeMs, promptTokens, decodeTokens)
};

struct GenerateResult {
    std::string stopReason, text, thinking; // behind what was there before
    // were in the cache, but the model cannot go back to them
    size_t rereadTokens = 0;
    size_t promptTokens = 0, cachedTokens = 0, answerTokens = 0, contextUsed = 0;
    double ttftMs = 0, promptMs = 0;
    // from the first token to the last one, the mark of the end included, and how many came after the first
    double decodeMs = 0;
    size_t decodeTokens = 0;
    UpstreamTimings upstream;
    uint32_t seed = 0;
    Drafts drafts;
    DraftTrial trial;

    CONCERTINA_FIELDS(stopReason, text, thinking, promptTokens, cachedTokens, rereadTokens, answerTokens, contextUsed,
        ttftMs, promptMs, decodeMs, decodeTokens, upstream, seed, drafts, trial)
};

class Generation {
public:
    struct Events {
        std::function<void(PrefillProgress)> prefill;
        std::function<void(GenerateChunk)> chunk;
    };

    Generation(Context & context, GenerateRequest request, Events events);
    GenerateResult run();

private:
    bool cancelled() const;
    void preparePrompt();
    void goOn();
    void remember(const AnswerStream & answer);
    void forbidEnd();
    server_task taskFor(server_response_reader & reader);
    // what the core sends, until the answer ends; returns the stop reason
    std::string follow(server_response_reader & reader, AnswerStream & answer);
    server_task_result_ptr next(server_response_reader & reader) const;
    void prefilled(const server_task_result_cmpl_partial & step);
    void take(const server_task_result_cmpl_partial & step, AnswerStream & answer);
    bool mayDraft() const;
    void speculate(int64_t written, double stepMs);
    void emit(const AnswerDelta & delta);
    [[noreturn]] void explain(server_task_result & error) const;
    void readUpstream();

    Context & context;
    GenerateRequest request;
    Events events;
    ChatPrompt prompt;
    StreamState before; // of an answer that goes on exactly
    bool exact = false;
    std::vector<llama_token> tokens; // of the prompt
    std::vector<llama_token> answered;
    common_params_sampling sampling;
    int64_t posted = 0;
    bool announced = false; // the beginning of the prefill
    size_t wanted = 0; // of the prompt, in the cache when the answer was asked for
    GenerateResult result;
    double chosenMs = 0; // when the last token was chosen, from the call
    std::optional<llama_token> chosen; // not reported yet, with its candidates
    std::vector<Candidate> candidates;
    bool drafting = false; // behind the first `draftingFrom` tokens; before them, the opposite
    int64_t draftingFrom = 0;
};

} // namespace concertina
