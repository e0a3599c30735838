#include "generation/Generation.h"

#include "errors.h"

#include "common.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace concertina {
namespace {

// How long tokens gather before they are handed on: half a frame of a window. To wake this thread and that of JavaScript for each
// token takes time from the threads that compute the next one, which may need all cores.
constexpr auto gathering = std::chrono::milliseconds(8);

// times of ggml_time_us(), which is the core's clock
double milliseconds(int64_t from, int64_t to) { return static_cast<double>(to - from) / 1000; }

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
    sampling = samplingParams(context.model->handle, request.sampling, request, prompt, before.raw);
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
        posted = ggml_time_us();
        reader.post_task(taskFor(reader));
        reader.states.clear(); // it would parse the whole answer at each token, for the JSON of an API
        result.stopReason = follow(reader, answer);
    } catch (...) {
        context.synchronize();
        throw;
    }
    context.synchronize();
    if (context.scheduler->speculates()) context.scheduler->speculateAsRequests(context.slot);
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
        prompt = context.model->chat->apply(request.messages, request.jsonSchema, request, {}, context.cancel.get());
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
    prompt = context.model->chat->apply(request.messages, "", request, request.continueFrom, context.cancel.get());
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
    prompt.delimiters.tokenize(context.model->vocab());
    task.params.message_spans = task.tokens.find_message_spans(prompt.delimiters);
    task.params.stream = true;
    task.params.return_progress = true;
    task.params.return_tokens = true;
    task.params.timings_per_token = true;
    task.params.n_predict = request.maxTokens > 0 ? request.maxTokens : -1;
    task.params.antiprompt = request.stop;
    task.params.antiprompt.insert(task.params.antiprompt.end(), prompt.stops.begin(), prompt.stops.end());
    task.params.sampling = sampling;
    return task;
}

std::string Generation::follow(server_response_reader & reader, AnswerStream & answer) {
    while (reader.has_next()) {
        const server_task_result_ptr result = next(reader);
        auto * step = dynamic_cast<server_task_result_cmpl_partial *>(result.get());
        // tokens that were chosen before the stop still count
        if (!result || (cancelled() && !step)) return "cancelled";
        if (result->is_error()) explain(*result);
        if (step) {
            if (step->is_progress)
                prefilled(*step);
            else if (!step->is_begin)
                take(*step, answer);
        } else if (auto * end = dynamic_cast<server_task_result_cmpl_final *>(result.get())) {
            if (end->stop == STOP_TYPE_EOS) return "end-of-turn";
            if (end->stop == STOP_TYPE_WORD || answer.stopped())
                return answer.stoppedByTemplate() ? "end-of-turn" : "stop-string";
            return end->truncated ? "context-full" : "max-tokens";
        }
    }
    return "cancelled";
}

// What comes next; none: canceled, and everything was taken. Behind the first token what is there is taken at once, and then, after
// a while, what came in it.
server_task_result_ptr Generation::next(server_response_reader & reader) const {
    const int patience = std::exchange(reader.polling_interval_seconds, 0);
    server_task_result_ptr waiting = reader.next([] { return true; });
    reader.polling_interval_seconds = patience;
    if (waiting || cancelled()) return waiting;
    if (result.ttftMs > 0) std::this_thread::sleep_for(gathering);
    return reader.next([this] { return cancelled(); });
}

void Generation::prefilled(const server_task_result_cmpl_partial & step) {
    const result_prompt_progress & progress = step.progress;
    result.cachedTokens = progress.cache;
    result.rereadTokens = wanted - std::min(wanted, result.cachedTokens);
    result.promptMs = announced ? milliseconds(posted, step.stats.t_prompt_last) : 0;
    announced = true;
    context.setUsed(progress.processed);
    if (!events.prefill) return;
    const auto done = static_cast<size_t>(progress.processed - progress.cache);
    events.prefill({ tokens.size(), result.cachedTokens, done, result.promptMs });
}

void Generation::take(const server_task_result_cmpl_partial & step, AnswerStream & answer) {
    const llama_vocab * vocab = context.model->vocab();
    const llama_token token = step.tokens.at(0);
    chosenMs = milliseconds(request.called, step.stats.t_gen_last);
    if (result.ttftMs == 0) {
        result.ttftMs = chosenMs;
    } else {
        result.decodeTokens++;
        speculate(step.n_decoded, chosenMs - result.ttftMs - result.decodeMs);
        result.decodeMs = chosenMs - result.ttftMs;
    }
    if (step.stats.n_draft_tokens > 0) {
        result.drafts.drafted = step.stats.n_draft_tokens;
        result.drafts.accepted = step.stats.n_draft_accepted;
    }
    result.drafts.slower = context.scheduler->speculates() && result.trial.slower();
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
