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

// What decides a prompt beside its messages.
struct PromptOptions {
    TimePoint now = std::chrono::system_clock::now(); // what a template gives the model as the time
    AnswerSoFar continueFrom; // the prompt ends inside this answer, whose turn stays open

    CONCERTINA_FIELDS(now, continueFrom)
};

struct ChatPrompt {
    std::string text;
    // the template marks thinking: the answer goes through `parser`
    bool thinking = false;
    common_chat_parser_params parser;
    // grammar of an answer that may think first; empty: none, or the caller's own
    std::string grammar;
    std::string generationPrompt;
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

    // `now`: the time that a template tells the model; `soFar`: the prompt ends inside this answer, whose turn stays open.
    // Throws `bad-request` when the template refuses the messages or takes too much (TemplateLimits.h), and `cancelled`
    ChatPrompt apply(const std::vector<ChatMessage> & messages, const std::string & jsonSchema, TimePoint now,
        const AnswerSoFar & soFar = {}, const std::atomic<bool> * cancel = nullptr) const;

    const std::string fallback;

private:
    ChatFormat(common_chat_templates_ptr templates, std::string fallback);

    static std::unique_ptr<ChatFormat> make(
        const llama_model * model, const std::string & source, std::string fallback);
    // within the limits of a load; `problem`: why it cannot be used
    static std::unique_ptr<ChatFormat> limited(
        const llama_model * model, const std::string & source, const std::atomic<bool> & cancel, std::string & problem);
    void tryOut() const;

    common_chat_templates_ptr templates;
    mutable std::mutex mutex; // a Jinja program keeps state while it renders
};

} // namespace concertina
