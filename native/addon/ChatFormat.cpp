#include "ChatFormat.h"

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
    inputs.continue_final_message = soFar.text.empty() ? COMMON_CHAT_CONTINUATION_REASONING : COMMON_CHAT_CONTINUATION_CONTENT;
}

// as JSON; local time, as upstream tells it
std::string quotedDate(TimePoint now, const char * format) {
    const std::time_t time = std::chrono::system_clock::to_time_t(now);
    char text[32];
    return '"' + std::string(text, std::strftime(text, sizeof(text), format, std::localtime(&time))) + '"';
}

} // namespace

std::unique_ptr<ChatFormat> ChatFormat::ofTemplate(const std::string & source) {
    return std::unique_ptr<ChatFormat>(new ChatFormat(common_chat_templates_init(nullptr, source), ""));
}

std::unique_ptr<ChatFormat> ChatFormat::ofModel(const llama_model * model) {
    const auto make = [&](const std::string & source, std::string fallback) {
        auto templates = common_chat_templates_init(model, source);
        return std::unique_ptr<ChatFormat>(new ChatFormat(std::move(templates), std::move(fallback)));
    };
    if (!llama_model_chat_template(model, nullptr)) {
        return make("chatml", "The model has no chat template; ChatML is used, answers may be poor.");
    }
    try {
        return make("", "");
    } catch (const std::exception & error) {
        return make("chatml", std::string("The model's chat template cannot be read (") + error.what() + "); ChatML is used.");
    }
}

ChatPrompt ChatFormat::apply(
    const std::vector<ChatMessage> & messages, const std::string & jsonSchema, TimePoint now, const AnswerSoFar & soFar) const {
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
    inputs.now = now;
    // upstream sets both from its own clock
    inputs.chat_template_kwargs["date_string"] = quotedDate(now, "%d %b %Y");
    inputs.chat_template_kwargs["datetime"] = quotedDate(now, "%b %d %Y");
    if (!soFar.empty()) leaveOpen(inputs, soFar);

    common_chat_params params;
    try {
        const std::lock_guard<std::mutex> lock(mutex);
        params = common_chat_templates_apply(templates.get(), inputs);
    } catch (const std::exception & error) {
        throw CodedError(
            "bad-request", std::string("The model's chat template refuses these messages: ") + error.what(),
            "Some models need user and assistant messages in turn, or take no system prompt.");
    }

    ChatPrompt prompt;
    prompt.text = params.prompt;
    prompt.open = !soFar.empty();
    prompt.thinking = params.supports_thinking;
    prompt.stops = params.additional_stops;
    if (!prompt.thinking) return prompt;
    prompt.parser = common_chat_parser_params(params);
    prompt.parser.reasoning_format = inputs.reasoning_format;
    if (!params.parser.empty()) prompt.parser.parser.load(params.parser);
    prompt.grammar = params.grammar;
    prompt.generationPrompt = params.generation_prompt;
    prompt.preserved = params.preserved_tokens;
    return prompt;
}

} // namespace concertina
