#include "server/Completion.h"

#include "errors.h"

#include <chrono>
#include <thread>
#include <utility>

namespace concertina {
namespace {

// How long tokens gather before they are handed on: half a frame of a window. To wake this thread and that of JavaScript for each
// token takes time from the threads that compute the next one, which may need all cores.
constexpr auto gathering = std::chrono::milliseconds(8);

// What comes next; none: canceled, and what was chosen before that was taken. Behind the first token what is there is taken at once,
// and then, after a while, what came in it.
server_task_result_ptr next(server_response_reader & reader, const std::atomic<bool> & cancel, bool begun) {
    for (;;) {
        const bool stopped = cancel; // read first: a token may come before the next line
        const int patience = std::exchange(reader.polling_interval_seconds, 0);
        server_task_result_ptr waiting = reader.next([] { return true; });
        reader.polling_interval_seconds = patience;
        if (waiting || stopped) return waiting;
        if (begun) std::this_thread::sleep_for(gathering);
        if (auto come = reader.next([&cancel] { return cancel.load(); })) return come;
    }
}

[[noreturn]] void explain(server_task_result & error) {
    const auto & failed = dynamic_cast<server_task_result_error &>(error);
    if (failed.err_type == ERROR_TYPE_INVALID_REQUEST)
        throw CodedError("bad-request", failed.err_msg, "Check the grammar and the prompt.");
    throw CodedError("internal", failed.err_msg);
}

// `is_updated`: the reader would have parsed the whole answer again for each token, for the JSON of a chat
CompletionStep describe(server_task_result_cmpl_partial & part, const Context & context, int64_t called) {
    part.is_updated = true;
    CompletionStep step{ safe_json_to_str(part.to_json()) };
    if (part.is_progress || part.is_begin) return step;
    step.elapsedMs = static_cast<double>(part.stats.t_gen_last - called) / 1000;
    step.end = llama_vocab_is_eog(context.model->vocab(), part.tokens.at(0));
    return step;
}

void follow(Context & context, server_response_reader & reader, int64_t called,
    const std::function<void(CompletionStep)> & send) {
    const std::atomic<bool> & cancel = *context.cancel;
    for (bool begun = false; reader.has_next();) {
        const server_task_result_ptr result = next(reader, cancel, begun);
        auto * part = dynamic_cast<server_task_result_cmpl_partial *>(result.get());
        // tokens that were chosen before the stop still count
        if (!result || (cancel && !part)) return;
        if (result->is_error()) explain(*result);
        if (part) {
            begun = begun || !(part->is_progress || part->is_begin);
            if (!part->is_begin)
                context.setUsed(
                    part->is_progress ? part->progress.processed : part->n_prompt_tokens + part->n_decoded - 1);
            send(describe(*part, context, called));
        } else {
            auto & end = dynamic_cast<server_task_result_cmpl_final &>(*result);
            end.is_updated = true;
            send({ safe_json_to_str(end.to_json()) });
        }
    }
}

// It says 1 where it counted none.
UpstreamTimings timings(const llama_context * context) {
    const llama_perf_context_data perf = llama_perf_context(context);
    return { perf.t_p_eval_ms, perf.t_eval_ms, perf.t_p_eval_ms > 0 ? static_cast<size_t>(perf.n_p_eval) : 0,
        perf.t_eval_ms > 0 ? static_cast<size_t>(perf.n_eval) : 0 };
}

} // namespace

Completed complete(Context & context, CompletionRequest request, const std::function<void(CompletionStep)> & send) {
    Scheduler & scheduler = *context.scheduler;
    server_tokens prompt = context.withMedia(request.tokens);
    if (scheduler.shared()) {
        context.slot = scheduler.prepare(context.slot, prompt);
        context.synchronize();
    }
    if (scheduler.speculates()) scheduler.speculate(context.slot, request.draft);
    Completed completed;
    completed.kept = context.commonPrefix(request.tokens);
    llama_perf_context_reset(context.handle);
    try {
        server_response_reader reader = scheduler.reader();
        server_task task = scheduler.task(request.params, std::move(prompt), context.slot);
        task.id = reader.get_new_id();
        reader.post_task(std::move(task));
        reader.states.clear();
        follow(context, reader, request.called, send);
    } catch (...) {
        context.synchronize();
        throw;
    }
    context.synchronize();
    if (scheduler.speculates()) scheduler.speculateAsRequests(context.slot);
    completed.upstream = timings(context.handle);
    return completed;
}

} // namespace concertina
