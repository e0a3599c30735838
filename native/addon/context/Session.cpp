#include "context/Session.h"

#include "model/Fingerprint.h"
#include "LogSink.h"
#include "errors.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace concertina {
namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = { 'C', 'N', 'C', 'T', 'K', 'V', '0', '1' };
constexpr uint64_t maxLabelBytes = 4096;

// the last bytes of the file; integers as the machine stores them, like the tensors before it
struct Footer {
    uint64_t stateBytes = 0;
    uint64_t labelBytes = 0;
    uint64_t checksum = 0; // of state and label
    char mark[sizeof magic] = {};
};

[[noreturn]] void corrupt(const std::string & path, const std::string & why) {
    throw CodedError("data-corrupt", path + ": " + why, "The text of the chat is not affected; it will be read again.");
}

void throwIfCancelled(const Context & context) {
    if (context.cancel->load()) throw CodedError("cancelled", "The session was stopped");
}

std::string firstDifference(const std::string & saved, const std::string & wanted) {
    std::istringstream left(saved), right(wanted);
    std::string a, b;
    while (std::getline(right, b)) {
        if (!std::getline(left, a) || a != b) return "saved with \"" + a + "\", here is \"" + b + "\"";
    }
    return "it was saved by another version";
}

Footer check(const Context & context, const std::string & path) {
    std::error_code error;
    const fs::path name = fs::u8path(path);
    const uint64_t size = fs::file_size(name, error);
    if (error) throw CodedError("not-found", "There is no session file " + path);
    std::ifstream file(name, std::ios::binary);
    Footer footer;
    if (size < sizeof footer) corrupt(path, "it is not a saved session");
    file.seekg(static_cast<std::streamoff>(size - sizeof footer));
    file.read(reinterpret_cast<char *>(&footer), sizeof footer);
    if (!file || std::memcmp(footer.mark, magic, sizeof magic) != 0)
        corrupt(path, "it is not a saved session, or it is cut short");
    const bool fits = footer.labelBytes <= maxLabelBytes && footer.stateBytes < size &&
                      footer.stateBytes + footer.labelBytes + sizeof footer == size;
    if (!fits) corrupt(path, "its length is wrong");
    std::string label(footer.labelBytes, '\0');
    file.seekg(static_cast<std::streamoff>(footer.stateBytes));
    file.read(label.data(), static_cast<std::streamsize>(label.size()));
    const std::string wanted = sessionLabel(context);
    if (label != wanted) corrupt(path, firstDifference(label, wanted));
    const uint64_t checksum = fileChecksum(path, footer.stateBytes + footer.labelBytes, *context.cancel);
    throwIfCancelled(context);
    if (checksum != footer.checksum) corrupt(path, "its checksum is wrong");
    return footer;
}

void appendFooter(const Context & context, const std::string & path, uint64_t stateBytes) {
    const std::string label = sessionLabel(context);
    Footer footer;
    footer.stateBytes = stateBytes;
    footer.labelBytes = label.size();
    std::memcpy(footer.mark, magic, sizeof magic);
    const fs::path name = fs::u8path(path);
    std::ofstream(name, std::ios::binary | std::ios::app)
        .write(label.data(), static_cast<std::streamsize>(label.size()));
    footer.checksum = fileChecksum(path, stateBytes + label.size(), *context.cancel);
    throwIfCancelled(context);
    std::ofstream file(name, std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char *>(&footer), sizeof footer);
    file.flush();
    if (!file || footer.checksum == 0)
        throw CodedError("storage-failed", path + " cannot be written", "Check the free space of the disk.");
}

} // namespace

std::string sessionLabel(const Context & context) {
    std::ostringstream label;
    label << "model " << std::hex << context.model->fingerprint << std::dec << '\n'
          << "K " << context.effective.typeK.effective << '\n'
          << "V " << context.effective.typeV.effective << '\n'
          << "centred " << std::hex << context.effective.centring.hash << std::dec << '\n'
          << "RoPE " << context.effective.rope.kind << ' ' << context.effective.rope.factor << '\n'
          << "flash " << context.effective.flashAttention << '\n'
          << "llama.cpp " << CONCERTINA_UPSTREAM_COMMIT << '\n'
          << "cells " << CONCERTINA_CELLS << '\n';
    return label.str();
}

uint64_t saveSession(Context & context, const std::string & path) {
    const std::string part = path + ".part";
    const LogSink::Capture log;
    std::error_code error;
    size_t bytes = 0;
    context.scheduler->call([&] {
        if (!context.scheduler->holds(context.slot, context.tokens))
            throw CodedError("busy", "A request of the API has taken the cells of this chat", "");
        bytes = llama_state_seq_save_file(
            context.handle, part.c_str(), context.slot, context.tokens.data(), context.tokens.size());
    });
    try {
        if (!bytes)
            throw CodedError("storage-failed", withLog(path + " cannot be written", log.errors()),
                "Check the folder and the free space of the disk.");
        throwIfCancelled(context);
        appendFooter(context, part, bytes);
        fs::rename(fs::u8path(part), fs::u8path(path));
    } catch (...) {
        fs::remove(fs::u8path(part), error);
        throw;
    }
    return fs::file_size(fs::u8path(path));
}

uint64_t loadSession(Context & context, const std::string & path) {
    check(context, path);
    std::vector<llama_token> tokens(context.effective.nCtx);
    size_t count = 0;
    const LogSink::Capture log;
    size_t stored = 0;
    llama_state_seq_load_file(context.handle, path.c_str(), 0, nullptr, 0, &stored);
    if (stored > context.effective.nCtx) {
        throw CodedError("context-full",
            "The session has " + std::to_string(stored) + " tokens, the context holds " +
                std::to_string(context.effective.nCtx),
            "Choose a longer context.");
    }
    bool restored = false;
    context.adopt([&](llama_seq_id sequence) {
        restored =
            llama_state_seq_load_file(context.handle, path.c_str(), sequence, tokens.data(), tokens.size(), &count);
        const bool kept = restored && !context.cancel->load();
        if (!kept) llama_memory_seq_rm(llama_get_memory(context.handle), sequence, -1, -1);
        tokens.resize(kept ? count : 0);
        return tokens;
    });
    if (!restored) corrupt(path, withLog("it cannot be restored", log.errors()));
    throwIfCancelled(context);
    return count;
}

} // namespace concertina
