// Chat templates through upstream's server and common/chat: the body of a chat request to a completion, and the answer read back.
#pragma once

#include "fields.h"

#include "server-common.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace concertina {

// Which options a template heeds.
struct TemplateSupport {
    bool thinking = false; // it marks thinking: that comes apart from the answer
    bool thinkingSwitch = false; // its prompt is another one without thinking
    bool thinkingBudget = false; // thinking has a mark of its end, which can be forced
    bool effort = false; // it reads `reasoning_effort`

    CONCERTINA_FIELDS(thinking, thinkingSwitch, thinkingBudget, effort)
};

// `arguments`: JSON, as the model wrote it. `id`: only of formats in which the model gives one
struct ParsedCall {
    std::string id, name, arguments;

    CONCERTINA_FIELDS(id, name, arguments)
};

struct ParsedAnswer {
    std::string text, thinking;
    std::vector<ParsedCall> toolCalls;

    CONCERTINA_FIELDS(text, thinking, toolCalls)
};

class ChatFormat {
public:
    // the model's own template, or ChatML; `fallback` says why ChatML. Throws `cancelled`
    static std::unique_ptr<ChatFormat> ofModel(const llama_model * model, const std::atomic<bool> & cancel);
    // throws `bad-request` when it cannot be used
    static std::unique_ptr<ChatFormat> ofTemplate(const std::string & source);

    // `body`: JSON of llama-server's POST /v1/chat/completions, and `now`, which the template is given as the time (ms since 1970).
    // Returns the parameters of its completion, `prompt` among them, without the messages. Throws `bad-request` when the template
    // refuses the messages, takes too much (TemplateLimits.h), or a JSON schema cannot be used; and `cancelled`.
    common_json apply(const std::string & body, const std::atomic<bool> * cancel = nullptr) const;

    const std::string fallback;
    // of a template that refuses every test: nothing
    TemplateSupport supports() const { return support; }

private:
    ChatFormat(common_chat_templates_ptr templates, std::string fallback);

    static std::unique_ptr<ChatFormat> make(
        const llama_model * model, const std::string & source, std::string fallback);
    // within the limits of a load; `problem`: why it cannot be used
    static std::unique_ptr<ChatFormat> limited(
        const llama_model * model, const std::string & source, const std::atomic<bool> & cancel, std::string & problem);
    void tryOut();
    // renders it once more, within limits of its own
    void tryWithoutThinking(const std::atomic<bool> & cancel);

    TemplateSupport support;
    std::string triedPrompt;
    server_chat_params params{};
    mutable std::mutex mutex; // a Jinja program keeps state while it renders
};

// What `text`, all of an answer so far, shows. `params`: JSON with chat_format, chat_parser and generation_prompt of `apply`'s.
// Throws when the answer does not follow the template. `partial`: its end is missing.
ParsedAnswer parseAnswer(const std::string & params, const std::string & text, bool partial);

} // namespace concertina
