#include "generation/Generation.h"

#include "errors.h"

#include "common.h"

#include <algorithm>
#include <utility>

namespace concertina {
namespace {

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

Generation::Generation(Context & context, GenerateRequest request, Events events)
    : context(context), request(std::move(request)), events(std::move(events)) {}

GenerateResult Generation::run() {
    checkGrammar(request);
    try {
        preparePrompt();
    } catch (const CodedError & error) {
        if (error.code != "cancelled") throw;
        result.stopReason = error.code; // while the template wrote the prompt
        result.contextUsed = context.used();
        return std::move(result);
    }
    context.written = {};
    Sampler sampler(context.model->handle, request.sampling, request, prompt);
    sampler.see(tokens);
    AnswerStream answer = exact ? AnswerStream(prompt, request.stop, before) : AnswerStream(prompt, request.stop);
    result.seed = sampler.seed();
    result.promptTokens = tokens.size();
    reusePrefix();
    llama_perf_context_reset(context.handle);
    const bool whole = prefill();
    readUpstream(result.upstream.promptMs, result.upstream.promptTokens);
    result.stopReason = whole ? decode(sampler, answer) : "cancelled";
    readUpstream(result.upstream.decodeMs, result.upstream.decodeTokens);
    const bool goesOn = result.stopReason != "end-of-turn" && result.stopReason != "stop-string";
    emit(answer.finish(goesOn));
    result.text = answer.text();
    result.thinking = answer.thinking();
    if (goesOn && !request.messages.empty()) remember(answer);
    result.contextUsed = context.used();
    return std::move(result);
}

bool Generation::cancelled() const { return context.cancel->load(); }

void Generation::preparePrompt() {
    if (request.messages.empty()) {
        tokens = std::move(request.tokens);
    } else {
        prompt =
            context.model->chat->apply(request.messages, request.jsonSchema, request.now, {}, context.cancel.get());
        tokens = context.model->chatTokens(prompt);
        if (!request.continueFrom.empty()) goOn();
    }
    if (tokens.empty()) throw CodedError("bad-request", "The prompt is empty", "Write something first.");
    const int32_t vocabulary = llama_vocab_n_tokens(context.model->vocab());
    for (const llama_token token : tokens) {
        if (token < 0 || token >= vocabulary)
            throw CodedError("bad-request", "Token " + std::to_string(token) + " is not in the vocabulary");
    }
    if (tokens.size() <= context.effective.nCtx) return;
    throw CodedError("context-full",
        "The prompt has " + std::to_string(tokens.size()) + " tokens, the context holds " +
            std::to_string(context.effective.nCtx),
        "Choose a longer context, start a new chat or shorten the text.");
}

// The same tokens when this is the answer that was stopped last, else those of its text.
void Generation::goOn() {
    if (!request.jsonSchema.empty() || !request.grammar.empty()) {
        throw CodedError("bad-request", "An answer that a grammar constrains cannot be continued", "Ask again.");
    }
    WrittenAnswer & last = context.written;
    exact = last.tokens.size() >= tokens.size() && std::equal(tokens.begin(), tokens.end(), last.tokens.begin()) &&
            last.shown.text == request.continueFrom.text && last.shown.thinking == request.continueFrom.thinking;
    if (exact) {
        prompt = std::move(last.prompt);
        before = std::move(last.stream);
        tokens = std::move(last.tokens);
        return;
    }
    prompt = context.model->chat->apply(request.messages, "", request.now, request.continueFrom, context.cancel.get());
    tokens = context.model->chatTokens(prompt);
}

void Generation::remember(const AnswerStream & answer) {
    WrittenAnswer & written = context.written;
    written.stream = answer.state();
    written.prompt = std::move(prompt);
    written.tokens = std::move(tokens);
    written.tokens.insert(written.tokens.end(), answered.begin(), answered.end());
    written.shown = { request.continueFrom.text + result.text, request.continueFrom.thinking + result.thinking };
}

void Generation::reusePrefix() {
    const auto & cached = context.tokens;
    const auto end = cached.begin() + static_cast<ptrdiff_t>(std::min(cached.size(), tokens.size()));
    const auto common = static_cast<size_t>(std::mismatch(cached.begin(), end, tokens.begin()).first - cached.begin());
    // logits are needed for the first answer token: the last prompt token is always evaluated
    const size_t wanted = std::min(common, tokens.size() - 1);
    result.cachedTokens = context.keep(wanted);
    result.rereadTokens = wanted - std::min(wanted, result.cachedTokens);
}

// Upstream counts a batch of one token as a step of an answer, whatever it is part of; it says 1 where it counted none.
void Generation::readUpstream(double & ms, size_t & tokens) {
    const llama_perf_context_data perf = llama_perf_context(context.handle);
    llama_perf_context_reset(context.handle);
    ms = perf.t_p_eval_ms + perf.t_eval_ms;
    if (perf.t_p_eval_ms > 0) tokens += perf.n_p_eval;
    if (perf.t_eval_ms > 0) tokens += perf.n_eval;
}

bool Generation::prefill() {
    const auto start = Clock::now();
    const size_t first = result.cachedTokens;
    bool whole = true;
    if (events.prefill) events.prefill({ tokens.size(), first, 0, 0 });
    for (size_t at = first; whole && at < tokens.size();) {
        const size_t count = std::min<size_t>(context.effective.batch, tokens.size() - at);
        const bool last = at + count == tokens.size();
        whole = !cancelled() && context.decode(tokens.data() + at, count, last ? 1 : 0);
        if (!whole) break;
        at += count;
        if (events.prefill) events.prefill({ tokens.size(), first, at - first, since(start) });
    }
    result.promptMs = since(start);
    return whole;
}

std::string Generation::decode(Sampler & sampler, AnswerStream & answer) {
    double evalMs = 0;
    while (!cancelled()) {
        const llama_token token = choose(sampler, evalMs);
        std::string reason = take(token, sampler, answer);
        if (!reason.empty()) return reason;
        const auto start = Clock::now();
        if (!context.decode(&token, 1, 1)) break;
        evalMs = since(start);
    }
    return "cancelled";
}

llama_token Generation::choose(Sampler & sampler, double evalMs) {
    const llama_token token = sampler.next(context.handle);
    chosenMs = since(request.called);
    if (result.ttftMs == 0) {
        result.ttftMs = chosenMs;
    } else {
        result.decodeTokens++;
        result.decodeMs = chosenMs - result.ttftMs;
        result.evalMs += evalMs;
    }
    chosen = token;
    if (request.candidates > 0) noteCandidates();
    return token;
}

// Looking at the whole vocabulary takes about a millisecond, which is no part of the answer: the clock stands still.
void Generation::noteCandidates() {
    const auto start = Clock::now();
    const int vocabulary = llama_vocab_n_tokens(context.model->vocab());
    candidates = likeliest(llama_get_logits_ith(context.handle, -1), vocabulary, request.candidates);
    request.called += Clock::now() - start;
}

std::string Generation::take(llama_token token, Sampler & sampler, AnswerStream & answer) {
    const llama_vocab * vocab = context.model->vocab();
    if (llama_vocab_is_eog(vocab, token) && !request.ignoreEnd) return "end-of-turn";
    result.answerTokens++;
    answered.push_back(token);
    emit(answer.push(common_token_to_piece(vocab, token, sampler.isPreserved(token))));
    if (answer.stopped()) return answer.stoppedByTemplate() ? "end-of-turn" : "stop-string";
    if (request.maxTokens > 0 && result.answerTokens >= static_cast<size_t>(request.maxTokens)) return "max-tokens";
    if (context.used() >= context.effective.nCtx) return "context-full";
    return "";
}

void Generation::emit(const AnswerDelta & delta) {
    if (!events.chunk) return;
    events.chunk(
        { delta.text, delta.thinking, result.answerTokens, context.used(), chosenMs, chosen, std::move(candidates) });
    chosen.reset();
    candidates.clear();
}

} // namespace concertina
