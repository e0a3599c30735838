#include "model/ChatFormat.h"

#include "model/TemplateLimits.h"
#include "errors.h"

#include "json-schema-to-grammar.h"

#include <utility>

namespace concertina {

ChatFormat::ChatFormat(common_chat_templates_ptr templates, std::string fallback) : fallback(std::move(fallback)) {
    params.use_jinja = true;
    params.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    params.tmpls = std::move(templates);
}

namespace {

// of the model's own template, and of the one that it has for tools
std::string refused(const llama_model * model) {
    for (const char * name : { static_cast<const char *>(nullptr), "tool_use" }) {
        const char * source = llama_model_chat_template(model, name);
        const std::string reason = source ? refusedTemplate(source) : "";
        if (!reason.empty()) return reason;
    }
    return "";
}

// before the template sees it: its own failures are others
void checkSchema(const common_json & body) {
    if (!body.contains("json_schema")) return;
    try {
        json_schema_to_grammar(body.at("json_schema"));
    } catch (const std::exception & error) {
        throw CodedError(
            "bad-request", std::string("The JSON schema cannot be used: ") + error.what(), "Check the schema.");
    }
}

common_chat_templates_inputs greeting() {
    common_chat_templates_inputs inputs;
    inputs.messages.emplace_back();
    inputs.messages.back().role = "user";
    inputs.messages.back().content = "Hello";
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    return inputs;
}

} // namespace

std::unique_ptr<ChatFormat> ChatFormat::make(
    const llama_model * model, const std::string & source, std::string fallback) {
    return std::unique_ptr<ChatFormat>(new ChatFormat(common_chat_templates_init(model, source), std::move(fallback)));
}

std::unique_ptr<ChatFormat> ChatFormat::limited(
    const llama_model * model, const std::string & source, const std::atomic<bool> & cancel, std::string & problem) {
    const template_budget::Budget budget(loadLimits, &cancel);
    std::unique_ptr<ChatFormat> format;
    try {
        format = make(model, source, "");
        format->tryOut();
    } catch (const std::exception &) {
        // without a reason when it is no Jinja; and a template may refuse these messages
    }
    if (cancel) throw CodedError("cancelled", "Loading was cancelled");
    problem = budget.reason(); // upstream takes no notice of much that a template throws
    if (problem.empty() && !format) problem = "it is no Jinja template";
    return format;
}

std::unique_ptr<ChatFormat> ChatFormat::ofTemplate(const std::string & source) {
    std::string problem = refusedTemplate(source);
    const std::atomic<bool> never{ false };
    auto format = problem.empty() ? limited(nullptr, source, never, problem) : nullptr;
    if (!problem.empty()) throw CodedError("bad-request", "The chat template cannot be used: " + problem);
    return format;
}

std::unique_ptr<ChatFormat> ChatFormat::ofModel(const llama_model * model, const std::atomic<bool> & cancel) {
    if (!llama_model_chat_template(model, nullptr)) {
        return make(model, "chatml", "The model has no chat template; ChatML is used, answers may be poor.");
    }
    std::string problem = refused(model);
    auto format = problem.empty() ? limited(model, "", cancel, problem) : nullptr;
    if (problem.empty()) {
        format->tryWithoutThinking(cancel);
        return format;
    }
    return make(model, "chatml",
        "The model's chat template cannot be used: " + problem + ". ChatML is used, answers may be poor.");
}

void ChatFormat::tryOut() {
    const common_chat_params tried = common_chat_templates_apply(params.tmpls.get(), greeting());
    const auto caps = common_chat_templates_get_caps(params.tmpls.get());
    support.thinking = tried.supports_thinking;
    support.thinkingBudget = !tried.thinking_start_tag.empty() && !tried.thinking_end_tags.empty();
    support.effort = caps.count("supports_reasoning_effort") && caps.at("supports_reasoning_effort");
    triedPrompt = tried.prompt;
}

void ChatFormat::tryWithoutThinking(const std::atomic<bool> & cancel) {
    if (!support.thinking) return;
    const template_budget::Budget budget(loadLimits, &cancel);
    try {
        auto inputs = greeting();
        inputs.enable_thinking = false;
        support.thinkingSwitch = common_chat_templates_apply(params.tmpls.get(), inputs).prompt != triedPrompt;
    } catch (const std::exception &) {
        // it cannot do without: no switch is offered
    }
}

common_json ChatFormat::apply(const std::string & body, const std::atomic<bool> * cancel) const {
    const template_budget::Budget budget(renderLimits(body), cancel);
    common_json asked = common_json::parse(body);
    checkSchema(asked);
    try {
        const std::lock_guard<std::mutex> lock(mutex);
        std::vector<raw_buffer> files;
        common_json completion = oaicompat_chat_params_parse(asked, params, files);
        completion.erase("messages");
        return completion;
    } catch (const std::exception & error) {
        if (cancel && *cancel) throw CodedError("cancelled", "The answer was cancelled");
        if (!budget.reason().empty()) {
            throw CodedError(
                "bad-request", "The model's chat template was ended: " + budget.reason(), "Choose another model.");
        }
        throw CodedError("bad-request",
            std::string("The model's chat template refuses these messages: ") + error.what(),
            "Some models need user and assistant messages in turn, or take no system prompt. Template variables that "
            "you set "
            "count, too.");
    }
}

ParsedAnswer parseAnswer(const std::string & params, const std::string & text, bool partial) {
    const common_json given = common_json::parse(params);
    common_chat_parser_params parser;
    parser.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    parser.format = static_cast<common_chat_format>(given.at("chat_format").get<int>());
    parser.generation_prompt = json_value(given, "generation_prompt", std::string());
    if (given.contains("chat_parser")) parser.parser.load(given.at("chat_parser").get<std::string>());
    const common_chat_msg message = common_chat_parse(text, partial, parser);
    std::vector<ParsedCall> calls;
    for (const auto & call : message.tool_calls) calls.push_back({ call.id, call.name, call.arguments });
    return { message.content, message.reasoning_content, std::move(calls) };
}

} // namespace concertina
