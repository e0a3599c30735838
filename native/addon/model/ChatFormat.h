// Chat templates through common/chat: messages to a prompt, and what is needed to read the answer back.
#pragma once

#include "fields.h"

#include "chat.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace concertina {

using TimePoint = std::chrono::system_clock::time_point;

struct ChatMessage {
    std::string role;
    std::string content;

    CONCERTINA_FIELDS(role, content)
};

// What is there of an answer that was stopped, as it was shown. Both empty: nothing.
struct AnswerSoFar {
    std::string text, thinking;

    bool empty() const { return text.empty() && thinking.empty(); }

    CONCERTINA_FIELDS(text, thinking)
};

// What a template is told beside the messages.
struct TemplateOptions {
    TimePoint now = std::chrono::system_clock::now(); // what a template gives the model as the time
    bool thinking = true; // false: the model shall answer at once
    std::string templateVariables; // what else it is told, by name: a JSON object; empty: nothing
};

// What decides a prompt beside its messages.
struct PromptOptions : TemplateOptions {
    AnswerSoFar continueFrom; // the prompt ends inside this answer, whose turn stays open

    CONCERTINA_FIELDS(now, thinking, templateVariables, continueFrom)
};

// Which options a template heeds.
struct TemplateSupport {
    bool thinking = false; // it marks thinking: that comes apart from the answer
    bool thinkingSwitch = false; // its prompt is another one without thinking
    bool thinkingBudget = false; // thinking has a mark of its end, which can be forced
    bool effort = false; // it reads `reasoning_effort`

    CONCERTINA_FIELDS(thinking, thinkingSwitch, thinkingBudget, effort)
};

struct ChatPrompt {
    std::string text;
    // the template marks thinking: the answer goes through `parser`
    bool thinking = false;
    common_chat_parser_params parser;
    // grammar of an answer that may think first; empty: none, or the caller's own
    std::string grammar;
    std::string generationPrompt;
    // marks around thinking; empty: the template has none. The first mark of its end is the one to write
    std::string thinkingStart;
    std::vector<std::string> thinkingEnds;
    // end the turn beside the end token
    std::vector<std::string> stops;
    // begin a message: where a cache that does not rewind keeps a checkpoint
    common_chat_msg_delimiters delimiters;
    // the prompt ends inside an answer
    bool open = false;
    // special tokens that belong to the text (thinking marks)
    std::vector<std::string> preserved;
};

class ChatFormat {
public:
    // the model's own template, or ChatML; `fallback` says why ChatML. Throws `cancelled`
    static std::unique_ptr<ChatFormat> ofModel(const llama_model * model, const std::atomic<bool> & cancel);
    // throws `bad-request` when it cannot be used
    static std::unique_ptr<ChatFormat> ofTemplate(const std::string & source);

    // `soFar`: the prompt ends inside this answer, whose turn stays open. Throws `bad-request` when the template refuses the
    // messages or the variables, or takes too much (TemplateLimits.h), and `cancelled`
    ChatPrompt apply(const std::vector<ChatMessage> & messages, const std::string & jsonSchema,
        const TemplateOptions & options, const AnswerSoFar & soFar = {},
        const std::atomic<bool> * cancel = nullptr) const;

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
    common_chat_templates_ptr templates;
    mutable std::mutex mutex; // a Jinja program keeps state while it renders
};

} // namespace concertina
