#include "LogSink.h"

#include "llama.h"
#include "log.h"

namespace concertina {
namespace {

thread_local LogSink::Capture * current = nullptr;
thread_local std::string partial;
thread_local ggml_log_level partialLevel = GGML_LOG_LEVEL_NONE;

// "llama_model_load: error loading model: x" -> "error loading model: x"
std::string withoutFunction(const std::string & line) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos || line.find(' ') < colon) return line;
    return line.substr(colon + 2);
}

} // namespace

LogSink & LogSink::shared() {
    static LogSink * const sink = new LogSink(); // never freed: threads of llama.cpp may log until the process ends
    return *sink;
}

LogSink::LogSink() {
    llama_log_set(onLog, this);
    common_log_set_verbosity_thold(LOG_LEVEL_OUTPUT - 1); // common/ would print to stderr from a thread of its own
}

int LogSink::add(Listener listener) {
    const std::lock_guard<std::mutex> lock(mutex);
    listeners[nextId] = std::move(listener);
    return nextId++;
}

void LogSink::remove(int id) {
    const std::lock_guard<std::mutex> lock(mutex);
    listeners.erase(id);
}

void LogSink::onLog(ggml_log_level level, const char * text, void * self) {
    if (level != GGML_LOG_LEVEL_CONT) {
        partialLevel = level;
        partial.clear();
    }
    partial += text;
    if (partial.empty() || partial.back() != '\n') return;
    partial.pop_back();
    const std::string line = std::move(partial);
    partial.clear();
    if (line.empty()) return;
    if (current) current->line(partialLevel, line);
    static_cast<LogSink *>(self)->publish(partialLevel, line);
}

void LogSink::publish(ggml_log_level level, const std::string & text) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (const auto & [id, listener] : listeners) listener(level, text);
}

LogSink::Capture::Capture() : outer(current) { current = this; }

LogSink::Capture::~Capture() { current = outer; }

void LogSink::Capture::line(ggml_log_level level, const std::string & text) {
    if (outer) outer->line(level, text);
    if (level != GGML_LOG_LEVEL_ERROR) return;
    if (!collected.empty()) collected += "; ";
    collected += withoutFunction(text);
}

std::string LogSink::Capture::errors() const { return collected; }

} // namespace concertina
