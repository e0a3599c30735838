#include "server/Scheduler.h"

#include "LogSink.h"
#include "errors.h"
#include "model/Fingerprint.h"
#include "model/TemplateLimits.h"

#include "mtmd-helper.h"
#include "mtmd.h"
#include "server-schema.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace concertina {
namespace {

using Handler = server_http_context::handler_t server_routes::*;

const std::map<std::string, Handler> handlers = {
    { "get_health", &server_routes::get_health },
    { "get_metrics", &server_routes::get_metrics },
    { "get_slots", &server_routes::get_slots },
    { "post_slots", &server_routes::post_slots },
    { "get_props", &server_routes::get_props },
    { "post_props", &server_routes::post_props },
    { "get_models", &server_routes::get_models },
    { "post_infill", &server_routes::post_infill },
    { "post_completions", &server_routes::post_completions },
    { "post_completions_oai", &server_routes::post_completions_oai },
    { "post_chat_completions", &server_routes::post_chat_completions },
    { "post_chat_completions_tok", &server_routes::post_chat_completions_tok },
    { "post_control", &server_routes::post_control },
    { "post_responses_oai", &server_routes::post_responses_oai },
    { "post_responses_tok_oai", &server_routes::post_responses_tok_oai },
    { "post_anthropic_messages", &server_routes::post_anthropic_messages },
    { "post_anthropic_count_tokens", &server_routes::post_anthropic_count_tokens },
    { "post_apply_template", &server_routes::post_apply_template },
    { "post_tokenize", &server_routes::post_tokenize },
    { "post_detokenize", &server_routes::post_detokenize },
    { "post_embeddings", &server_routes::post_embeddings },
    { "post_embeddings_oai", &server_routes::post_embeddings_oai },
    { "post_rerank", &server_routes::post_rerank },
    { "get_lora_adapters", &server_routes::get_lora_adapters },
    { "post_lora_adapters", &server_routes::post_lora_adapters },
};

// in the form of llama-server's own errors
ApiPart failure(const std::string & message, error_type type) {
    const json error = format_error_response(message, type);
    return { json_value(error, "code", 500), "application/json; charset=utf-8", {},
        safe_json_to_str({ { "error", error } }) };
}

} // namespace

Scheduler::Scheduler(llama_context * context, common_params wanted, bool requestsDraft)
    : context(context), requestsDraft(requestsDraft), params(std::move(wanted)),
      projector(params.mmproj.path.empty() ? 0 : fingerprint(params.mmproj.path)), routes(params, server) {
    params.context_shared = context;
    // The core decodes two tokens when it is made. On the thread that goes on decoding: OpenMP keeps a team of threads for each
    // thread that has computed, and with more of them than cores they sleep at every barrier.
    const auto made =
        std::make_shared<std::promise<void>>(); // that thread may still be setting it when this one goes on
    loop = Thread([this, made] {
        if (make(*made)) server.start_loop();
    });
    try {
        made->get_future().get();
    } catch (...) {
        loop.join();
        throw;
    }
    // terminate() before the loop runs would be lost
    call([&] {
        for (int slot = 0; slot < params.n_parallel && speculates(); slot++)
            server_slots_access::speculate(server, slot, requestsDraft);
    });
}

bool Scheduler::make(std::promise<void> & made) {
    const LogSink::Capture log;
    // a template of --chat-template was not tried before; the model's own has these limits when the model is loaded
    const template_budget::Budget budget(loadLimits, nullptr);
    try {
        if (!server.load_model(params))
            throw CodedError(
                "context-invalid", withLog("The context cannot answer", log.errors()), "Choose another model.");
        routes.update_meta(server);
    } catch (...) {
        made.set_exception(std::current_exception());
        return false;
    }
    made.set_value();
    return true;
}

Scheduler::~Scheduler() {
    server.terminate();
    loop.join();
}

const server_tokens & Scheduler::tokens(int slot) const {
    llama_synchronize(context);
    return server_slots_access::tokens(server, slot);
}

int Scheduler::prepare(int slot, const server_tokens & prompt) {
    call([&] { slot = server_slots_access::prepare(server, slot, prompt); });
    return slot;
}

int64_t Scheduler::speculate(int slot, bool on) {
    int64_t before = -1;
    call([&] { before = server_slots_access::speculate(server, slot, on); });
    return before;
}

bool Scheduler::holds(int slot, const std::vector<llama_token> & tokens) const {
    return server_slots_access::is_idle(server, slot) && numbersOf(server_slots_access::tokens(server, slot)) == tokens;
}

void Scheduler::append(int slot, const std::vector<llama_token> & added) {
    server_tokens tokens = server_slots_access::tokens(server, slot).clone();
    tokens.insert(added);
    server_slots_access::set_tokens(server, slot, std::move(tokens));
}

int Scheduler::adopt(
    const std::function<server_tokens(int slot)> & change, std::list<common_prompt_checkpoint> states) {
    int slot = -1;
    call([&] {
        slot = server_slots_access::clear_idle(server);
        if (slot < 0) throw CodedError("busy", "All slots are at work", "Wait for an answer, or stop one.");
        server_tokens tokens = change(slot);
        const bool empty = tokens.empty();
        server_slots_access::set_tokens(server, slot, std::move(tokens));
        if (!empty) checkpoints(slot) = std::move(states);
    });
    return slot;
}

std::vector<llama_token> Scheduler::numbersOf(const server_tokens & tokens) const {
    std::vector<llama_token> numbers(tokens.size());
    for (size_t at = 0; at < tokens.size();) {
        if (tokens[at] != LLAMA_TOKEN_NULL) {
            numbers[at] = tokens[at];
            at++;
            continue;
        }
        const mtmd_input_chunk * chunk = tokens.find_chunk(at).get();
        // of the bytes of its file
        const size_t id = std::hash<std::string>()(mtmd_input_chunk_get_id(chunk)) ^ projector;
        const size_t cells = mtmd_input_chunk_get_n_tokens(chunk);
        std::fill_n(numbers.begin() + static_cast<ptrdiff_t>(at), cells,
            LLAMA_TOKEN_NULL - 1 - static_cast<llama_token>(id >> 34));
        at += cells;
    }
    return numbers;
}

server_tokens Scheduler::read(const std::string & prompt, const std::vector<raw_buffer> & files, bool count) const {
    mtmd_context * media = server_slots_access::media(server);
    if (!media) {
        throw CodedError("bad-request", "The model in use neither sees images nor hears sound",
            "Choose a model with a projector (mmproj), or leave them out.");
    }
    try {
        return process_mtmd_prompt(media, prompt, files, mtmd_helper_init_opt_default(), count);
    } catch (const std::exception &) {
        throw CodedError("bad-request", "An image or sound is damaged, or not what this model's projector reads",
            "Attach it as PNG or JPEG, or as WAV or MP3 for a model that hears.");
    }
}

server_task Scheduler::task(const std::string & body, server_tokens tokens, int slot) const {
    const llama_vocab * vocab = llama_model_get_vocab(llama_get_model(context));
    server_task task(SERVER_TASK_TYPE_COMPLETION);
    task.id_slot = slot;
    task.tokens = std::move(tokens);
    try {
        const json asked = json::parse(body);
        task.params = server_schema::eval_llama_cmpl_schema(vocab, params, server.get_meta().logit_bias_eog, asked);
        common_chat_msg_delimiters delimiters =
            common_chat_msg_delimiters_parse(json_value(asked, "message_delimiters", json::array()));
        delimiters.tokenize(vocab);
        task.params.message_spans = task.tokens.find_message_spans(delimiters);
    } catch (const std::exception & error) { throw CodedError("bad-request", error.what(), "Check the settings."); }
    return task;
}

server_http_context::handler_t & Scheduler::handlerOf(const std::string & name) {
    const auto handler = handlers.find(name);
    if (handler == handlers.end()) throw CodedError("bad-request", "llama-server has no handler " + name);
    return routes.*handler->second;
}

void Scheduler::respond(
    const ApiRequest & request, const std::atomic<bool> & cancel, const std::function<void(ApiPart)> & send) {
    const auto & handler = handlerOf(request.handler);
    const std::function<bool()> stop = [&cancel] { return cancel.load(); };
    const server_http_req given{ request.params, {}, request.path, request.query, request.body, {}, stop };
    server_http_res_ptr response;
    {
        const template_budget::Budget budget(renderLimits(request.body), &cancel);
        try {
            response = handler(given);
        } catch (const std::invalid_argument & error) {
            return send(failure(error.what(), ERROR_TYPE_INVALID_REQUEST));
        } catch (const std::exception & error) {
            if (budget.reason().empty()) return send(failure(error.what(), ERROR_TYPE_SERVER));
            return send(failure("The chat template was ended: " + budget.reason(), ERROR_TYPE_INVALID_REQUEST));
        }
    }
    send({ response->status, response->content_type, response->headers,
        response->is_stream() ? "" : std::move(response->data) });
    for (bool more = response->is_stream(); more;) {
        std::string data;
        more = response->next(data);
        if (!data.empty()) send({ std::nullopt, "", {}, std::move(data) });
    }
    response->on_complete();
    if (request.handler == "post_slots") server_slots_access::resume(server);
}

} // namespace concertina
