// One answer: prompt, prefix reuse, prefill in micro-batches, decode loop. Runs on a worker thread.
#pragma once

#include "fields.h"
#include "context/Context.h"
#include "generation/AnswerStream.h"
#include "generation/Sampler.h"

#include <atomic>
#include <chrono>
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
    int candidates = 0;     // likeliest tokens to report at each step
    bool ignoreEnd = false; // a mark of the end is a token like any other: for measurements
    std::chrono::steady_clock::time_point called = std::chrono::steady_clock::now();

    CONCERTINA_FIELDS(sampling, now, jsonSchema, grammar, continueFrom, stop, maxTokens, candidates, ignoreEnd)
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

    CONCERTINA_FIELDS(text, thinking, answerTokens, contextUsed, elapsedMs, token, candidates)
};

// llama_perf_context of this answer alone
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
    // of decodeMs: evaluating; the rest is choosing tokens and making text of them
    double evalMs = 0;
    UpstreamTimings upstream;
    uint32_t seed = 0;

    CONCERTINA_FIELDS(stopReason, text, thinking, promptTokens, cachedTokens, rereadTokens, answerTokens, contextUsed,
        ttftMs, promptMs, decodeMs, decodeTokens, evalMs, upstream, seed)
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
    using Clock = std::chrono::steady_clock;

    bool cancelled() const;
    void preparePrompt();
    void goOn();
    void remember(const AnswerStream & answer);
    void reusePrefix();
    void readUpstream(double & ms, size_t & tokens);
    bool prefill();
    std::string decode(Sampler & sampler, AnswerStream & answer);
    // evalMs: of the step that gave the logits
    llama_token choose(Sampler & sampler, double evalMs);
    // empty: goes on; else the stop reason
    std::string take(llama_token token, Sampler & sampler, AnswerStream & answer);
    void noteCandidates();
    void emit(const AnswerDelta & delta);

    Context & context;
    GenerateRequest request;
    Events events;
    ChatPrompt prompt;
    StreamState before; // of an answer that goes on exactly
    bool exact = false;
    std::vector<llama_token> tokens; // of the prompt
    std::vector<llama_token> answered;
    GenerateResult result;
    double chosenMs = 0; // when the last token was chosen, from the call
    std::optional<llama_token> chosen; // not reported yet, with its candidates
    std::vector<Candidate> candidates;
};

} // namespace concertina
