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

constexpr char magic[8] = { 'C', 'N', 'C', 'T', 'K', 'V', '0', '2' };
constexpr uint64_t maxLabelBytes = 4096;

// Before the bytes of a checkpoint, which follow the state.
struct CheckpointHead {
    int64_t tokens = 0;
    int32_t posMin = 0, posMax = 0;
    uint64_t bytes = 0;
};

// the last bytes of the file; integers as the machine stores them, like the tensors before it
struct Footer {
    uint64_t stateBytes = 0;
    uint64_t checkpointBytes = 0;
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
    const bool fits = footer.labelBytes <= maxLabelBytes && footer.stateBytes < size && footer.checkpointBytes < size &&
                      footer.stateBytes + footer.checkpointBytes + footer.labelBytes + sizeof footer == size;
    if (!fits) corrupt(path, "its length is wrong");
    std::string label(footer.labelBytes, '\0');
    file.seekg(static_cast<std::streamoff>(footer.stateBytes + footer.checkpointBytes));
    file.read(label.data(), static_cast<std::streamsize>(label.size()));
    const std::string wanted = sessionLabel(context);
    if (label != wanted) corrupt(path, firstDifference(label, wanted));
    const uint64_t covered = footer.stateBytes + footer.checkpointBytes + footer.labelBytes;
    const uint64_t checksum = fileChecksum(path, covered, *context.cancel);
    throwIfCancelled(context);
    if (checksum != footer.checksum) corrupt(path, "its checksum is wrong");
    return footer;
}

// Returns the bytes that it has written.
uint64_t appendCheckpoints(const std::list<common_prompt_checkpoint> & checkpoints, const std::string & path) {
    std::ofstream file(fs::u8path(path), std::ios::binary | std::ios::app);
    uint64_t written = 0;
    for (const common_prompt_checkpoint & one : checkpoints) {
        const CheckpointHead head{ one.n_tokens, one.pos_min, one.pos_max, one.data_tgt.size() };
        file.write(reinterpret_cast<const char *>(&head), sizeof head);
        file.write(reinterpret_cast<const char *>(one.data_tgt.data()), static_cast<std::streamsize>(head.bytes));
        written += sizeof head + head.bytes;
    }
    return written;
}

std::list<common_prompt_checkpoint> readCheckpoints(const std::string & path, const Footer & footer) {
    std::list<common_prompt_checkpoint> checkpoints;
    std::ifstream file(fs::u8path(path), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(footer.stateBytes));
    for (uint64_t left = footer.checkpointBytes; left > 0;) {
        CheckpointHead head;
        file.read(reinterpret_cast<char *>(&head), sizeof head);
        if (!file || left < sizeof head || head.bytes > left - sizeof head)
            corrupt(path, "its checkpoints are damaged");
        common_prompt_checkpoint & one = checkpoints.emplace_back();
        one.update_pos(head.tokens, head.posMin, head.posMax);
        one.data_tgt.resize(head.bytes);
        file.read(reinterpret_cast<char *>(one.data_tgt.data()), static_cast<std::streamsize>(head.bytes));
        if (!file) corrupt(path, "its checkpoints are cut short");
        left -= sizeof head + head.bytes;
    }
    return checkpoints;
}

void appendFooter(const Context & context, const std::string & path, uint64_t stateBytes, uint64_t checkpointBytes) {
    const std::string label = sessionLabel(context);
    Footer footer;
    footer.stateBytes = stateBytes;
    footer.checkpointBytes = checkpointBytes;
    footer.labelBytes = label.size();
    std::memcpy(footer.mark, magic, sizeof magic);
    const fs::path name = fs::u8path(path);
    std::ofstream(name, std::ios::binary | std::ios::app)
        .write(label.data(), static_cast<std::streamsize>(label.size()));
    footer.checksum = fileChecksum(path, stateBytes + checkpointBytes + label.size(), *context.cancel);
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
    std::list<common_prompt_checkpoint> checkpoints;
    context.scheduler->call([&] {
        if (!context.scheduler->holds(context.slot, context.tokens))
            throw CodedError("busy", "A request of the API has taken the cells of this chat", "");
        bytes = llama_state_seq_save_file(
            context.handle, part.c_str(), context.slot, context.tokens.data(), context.tokens.size());
        checkpoints = context.scheduler->checkpoints(context.slot);
    });
    try {
        if (!bytes)
            throw CodedError("storage-failed", withLog(path + " cannot be written", log.errors()),
                "Check the folder and the free space of the disk.");
        throwIfCancelled(context);
        appendFooter(context, part, bytes, appendCheckpoints(checkpoints, part));
        fs::rename(fs::u8path(part), fs::u8path(path));
    } catch (...) {
        fs::remove(fs::u8path(part), error);
        throw;
    }
    return fs::file_size(fs::u8path(path));
}

uint64_t loadSession(Context & context, const std::string & path) {
    const Footer footer = check(context, path);
    std::list<common_prompt_checkpoint> checkpoints = readCheckpoints(path, footer);
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
    context.adopt(
        [&](llama_seq_id sequence) {
            restored =
                llama_state_seq_load_file(context.handle, path.c_str(), sequence, tokens.data(), tokens.size(), &count);
            const bool kept = restored && !context.cancel->load();
            if (!kept) llama_memory_seq_rm(llama_get_memory(context.handle), sequence, -1, -1);
            tokens.resize(kept ? count : 0);
            return tokens;
        },
        std::move(checkpoints));
    if (!restored) corrupt(path, withLog("it cannot be restored", log.errors()));
    throwIfCancelled(context);
    return count;
}

} // namespace concertina
