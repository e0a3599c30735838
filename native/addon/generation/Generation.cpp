#include "generation/Generation.h"

#include "errors.h"

#include "common.h"

#include <algorithm>
#include <cmath>
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
    sampling = samplingParams(context.model->handle, request.sampling, request, prompt);
    sampling.n_probs = request.candidates;
    if (request.ignoreEnd) forbidEnd();
    AnswerStream answer = exact ? AnswerStream(prompt, request.stop, before) : AnswerStream(prompt, request.stop);
    result.seed = sampling.seed;
    result.promptTokens = tokens.size();
    if (context.scheduler->shared()) {
        context.slot = context.scheduler->prepare(context.slot, tokens);
        context.synchronize();
    }
    result.trial = request.trial;
    drafting = context.scheduler->speculates() && mayDraft() && result.trial.wantsDrafts();
    if (context.scheduler->speculates()) context.scheduler->speculate(context.slot, drafting);
    wanted = context.commonPrefix(tokens);
    llama_perf_context_reset(context.handle);
    try {
        server_response_reader reader = context.scheduler->reader();
        posted = Clock::now();
        reader.post_task(taskFor(reader));
        result.stopReason = follow(reader, answer);
    } catch (...) {
        context.synchronize();
        throw;
    }
    context.synchronize();
    if (context.scheduler->speculates()) context.scheduler->speculate(context.slot, true); // for requests of the API
    readUpstream();
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
    if (tokens.size() < context.effective.nCtx) return;
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

void Generation::forbidEnd() {
    const llama_vocab * vocab = context.model->vocab();
    for (llama_token token = 0; token < llama_vocab_n_tokens(vocab); token++) {
        if (llama_vocab_is_eog(vocab, token)) sampling.logit_bias.push_back({ token, -INFINITY });
    }
}

server_task Generation::taskFor(server_response_reader & reader) {
    server_task task(SERVER_TASK_TYPE_COMPLETION);
    task.id = reader.get_new_id();
    task.id_slot = context.slot;
    task.tokens = server_tokens(tokens, false);
    task.params.stream = true;
    task.params.return_progress = true;
    task.params.return_tokens = true;
    task.params.timings_per_token = context.scheduler->speculates(); // brings the counts of drafts
    task.params.n_predict = request.maxTokens > 0 ? request.maxTokens : -1;
    task.params.antiprompt = request.stop;
    task.params.antiprompt.insert(task.params.antiprompt.end(), prompt.stops.begin(), prompt.stops.end());
    task.params.sampling = sampling;
    return task;
}

std::string Generation::follow(server_response_reader & reader, AnswerStream & answer) {
    while (reader.has_next()) {
        const server_task_result_ptr next = reader.next([this] { return cancelled(); });
        if (!next || cancelled()) return "cancelled";
        if (next->is_error()) explain(*next);
        if (auto * step = dynamic_cast<server_task_result_cmpl_partial *>(next.get())) {
            if (step->is_progress)
                prefilled(step->progress);
            else if (!step->is_begin)
                take(*step, answer);
        } else if (auto * end = dynamic_cast<server_task_result_cmpl_final *>(next.get())) {
            if (end->stop == STOP_TYPE_EOS) return "end-of-turn";
            if (end->stop == STOP_TYPE_WORD || answer.stopped())
                return answer.stoppedByTemplate() ? "end-of-turn" : "stop-string";
            return end->truncated ? "context-full" : "max-tokens";
        }
    }
    return "cancelled";
}

void Generation::prefilled(const result_prompt_progress & progress) {
    result.cachedTokens = progress.cache;
    result.rereadTokens = wanted - std::min(wanted, result.cachedTokens);
    result.promptMs = announced ? since(posted) : 0;
    announced = true;
    context.setUsed(progress.processed);
    if (!events.prefill) return;
    const auto done = static_cast<size_t>(progress.processed - progress.cache);
    events.prefill({ tokens.size(), result.cachedTokens, done, result.promptMs });
}

void Generation::take(const server_task_result_cmpl_partial & step, AnswerStream & answer) {
    const llama_vocab * vocab = context.model->vocab();
    const llama_token token = step.tokens.at(0);
    chosenMs = since(request.called);
    if (result.ttftMs == 0) {
        result.ttftMs = chosenMs;
    } else {
        result.decodeTokens++;
        speculate(step.n_decoded, chosenMs - result.ttftMs - result.decodeMs);
        result.decodeMs = chosenMs - result.ttftMs;
    }
    if (step.stats.n_draft_tokens > 0) result.drafts = { step.stats.n_draft_tokens, step.stats.n_draft_accepted };
    chosen = token;
    candidates.clear();
    for (const auto & one : step.prob_output.probs) candidates.push_back({ one.tok, one.prob });
    if (llama_vocab_is_eog(vocab, token)) return;
    result.answerTokens++;
    answered.push_back(token);
    context.setUsed(tokens.size() + result.answerTokens - 1);
    emit(answer.push(common_token_to_piece(vocab, token, sampling.preserved_tokens.count(token) > 0)));
}

// A draft that a grammar refuses would end the process.
bool Generation::mayDraft() const {
    return request.jsonSchema.empty() && request.grammar.empty() && prompt.grammar.empty();
}

// written: tokens of the answer, with this one. What was written before a switch may arrive after it.
void Generation::speculate(int64_t written, double stepMs) {
    if (!context.scheduler->speculates() || !mayDraft()) return;
    result.trial.add(written > draftingFrom ? drafting : !drafting, stepMs);
    const bool wanted = result.trial.wantsDrafts();
    if (wanted == drafting || written <= draftingFrom) return;
    const int64_t before = context.scheduler->speculate(context.slot, wanted);
    if (before < written) return; // or the answer has ended meanwhile
    drafting = wanted;
    draftingFrom = before;
}

void Generation::explain(server_task_result & error) const {
    const auto & failed = dynamic_cast<server_task_result_error &>(error);
    if (failed.err_type == ERROR_TYPE_INVALID_REQUEST)
        throw CodedError("bad-request", failed.err_msg, "Check the grammar.");
    throw CodedError("internal", failed.err_msg);
}

// It says 1 where it counted none.
void Generation::readUpstream() {
    const llama_perf_context_data perf = llama_perf_context(context.handle);
    UpstreamTimings & upstream = result.upstream;
    upstream.promptMs = perf.t_p_eval_ms;
    upstream.decodeMs = perf.t_eval_ms;
    if (perf.t_p_eval_ms > 0) upstream.promptTokens = perf.n_p_eval;
    if (perf.t_eval_ms > 0) upstream.decodeTokens = perf.n_eval;
}

void Generation::emit(const AnswerDelta & delta) {
    if (!events.chunk) return;
    events.chunk({ delta.text, delta.thinking, result.answerTokens, context.used(), chosenMs, chosen,
        std::move(candidates), result.drafts });
    chosen.reset();
    candidates.clear();
}

} // namespace concertina
