#include "model/ChatFormat.h"

#include "model/TemplateLimits.h"
#include "errors.h"

#include <ctime>
#include <utility>

namespace concertina {

ChatFormat::ChatFormat(common_chat_templates_ptr templates, std::string fallback)
    : fallback(std::move(fallback)), templates(std::move(templates)) {}

namespace {

// Upstream writes the turn's beginning and what follows it itself, so no end of a turn comes behind the text.
void leaveOpen(common_chat_templates_inputs & inputs, const AnswerSoFar & soFar) {
    common_chat_msg answer;
    answer.role = "assistant";
    answer.content = soFar.text;
    answer.reasoning_content = soFar.thinking;
    inputs.messages.push_back(std::move(answer));
    inputs.add_generation_prompt = false;
    inputs.continue_final_message =
        soFar.text.empty() ? COMMON_CHAT_CONTINUATION_REASONING : COMMON_CHAT_CONTINUATION_CONTENT;
}

size_t bytesOf(const std::vector<ChatMessage> & messages, const AnswerSoFar & soFar) {
    size_t bytes = soFar.text.size() + soFar.thinking.size();
    for (const ChatMessage & message : messages) bytes += message.role.size() + message.content.size();
    return bytes;
}

// of the model's own template, and of the one that it has for tools
std::string refused(const llama_model * model) {
    for (const char * name : { static_cast<const char *>(nullptr), "tool_use" }) {
        const char * source = llama_model_chat_template(model, name);
        const std::string reason = source ? refusedTemplate(source) : "";
        if (!reason.empty()) return reason;
    }
    return "";
}

// as JSON; local time, as upstream tells it
std::string quotedDate(TimePoint now, const char * format) {
    const std::time_t time = std::chrono::system_clock::to_time_t(now);
    char text[32];
    return '"' + std::string(text, std::strftime(text, sizeof(text), format, std::localtime(&time))) + '"';
}

void addVariables(common_chat_templates_inputs & inputs, const std::string & variables) {
    if (variables.empty()) return;
    common_json parsed;
    try {
        parsed = common_json::parse(variables);
    } catch (const std::exception &) {
        // below
    }
    if (!parsed.is_object())
        throw CodedError("bad-request", "The template variables are no JSON object", "Write {\"name\": value}.");
    for (const auto & [name, value] : parsed.items()) inputs.chat_template_kwargs[name] = value.dump();
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
    const common_chat_params tried = common_chat_templates_apply(templates.get(), greeting());
    const auto caps = common_chat_templates_get_caps(templates.get());
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
        support.thinkingSwitch = common_chat_templates_apply(templates.get(), inputs).prompt != triedPrompt;
    } catch (const std::exception &) {
        // it cannot do without: no switch is offered
    }
}

ChatPrompt ChatFormat::apply(const std::vector<ChatMessage> & messages, const std::string & jsonSchema,
    const TemplateOptions & options, const AnswerSoFar & soFar, const std::atomic<bool> * cancel) const {
    if (messages.empty()) throw CodedError("bad-request", "The chat is empty", "Write a message first.");
    common_chat_templates_inputs inputs;
    for (const ChatMessage & message : messages) {
        common_chat_msg converted;
        converted.role = message.role;
        converted.content = message.content;
        inputs.messages.push_back(std::move(converted));
    }
    inputs.json_schema = jsonSchema;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    inputs.add_generation_prompt = true;
    inputs.now = options.now;
    inputs.enable_thinking = options.thinking;
    // upstream sets both from its own clock
    inputs.chat_template_kwargs["date_string"] = quotedDate(options.now, "%d %b %Y");
    inputs.chat_template_kwargs["datetime"] = quotedDate(options.now, "%b %d %Y");
    addVariables(inputs, options.templateVariables);
    if (!soFar.empty()) leaveOpen(inputs, soFar);

    common_chat_params params;
    const size_t bytes = bytesOf(messages, soFar) + options.templateVariables.size();
    const template_budget::Budget budget(renderLimits(messages.size(), bytes), cancel);
    try {
        const std::lock_guard<std::mutex> lock(mutex);
        params = common_chat_templates_apply(templates.get(), inputs);
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

    ChatPrompt prompt;
    prompt.text = params.prompt;
    prompt.open = !soFar.empty();
    prompt.thinking = params.supports_thinking;
    prompt.stops = params.additional_stops;
    prompt.delimiters = std::move(params.message_delimiters);
    if (!prompt.thinking) return prompt;
    prompt.parser = common_chat_parser_params(params);
    prompt.parser.reasoning_format = inputs.reasoning_format;
    if (!params.parser.empty()) prompt.parser.parser.load(params.parser);
    prompt.grammar = params.grammar;
    prompt.generationPrompt = params.generation_prompt;
    prompt.thinkingStart = params.thinking_start_tag;
    prompt.thinkingEnds = params.thinking_end_tags;
    prompt.preserved = params.preserved_tokens;
    return prompt;
}

} // namespace concertina
