#include "context/Session.h"

#include "errors.h"

#include <filesystem>
#include <fstream>
#include <vector>

namespace concertina {
namespace {

namespace fs = std::filesystem;

// Before the bytes of a checkpoint; integers as the machine stores them, like the tensors before it.
struct CheckpointHead {
    int64_t tokens = 0;
    int32_t posMin = 0, posMax = 0;
    uint64_t bytes = 0;
};

[[noreturn]] void corrupt(const std::string & path, const std::string & why) {
    throw CodedError("data-corrupt", path + ": " + why, "The text of the chat is not affected; it will be read again.");
}

void throwIfCancelled(const Context & context) {
    if (context.cancel->load()) throw CodedError("cancelled", "The session was stopped");
}

std::list<common_prompt_checkpoint> readCheckpoints(const std::string & path, const CellBytes & written) {
    std::list<common_prompt_checkpoint> checkpoints;
    std::ifstream file(fs::u8path(path), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(written.state));
    for (uint64_t left = written.checkpoints; left > 0;) {
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

} // namespace

CellBytes saveCells(Context & context, const std::string & path) {
    CellBytes written;
    std::list<common_prompt_checkpoint> checkpoints;
    context.scheduler->call([&] {
        if (!context.scheduler->holds(context.slot, context.tokens))
            throw CodedError("busy", "A request of the API has taken the cells of this chat", "");
        written.state = llama_state_seq_save_file(
            context.handle, path.c_str(), context.slot, context.tokens.data(), context.tokens.size());
        checkpoints = context.scheduler->checkpoints(context.slot);
    });
    std::ofstream file(fs::u8path(path), std::ios::binary | std::ios::app);
    for (const common_prompt_checkpoint & one : checkpoints) {
        const CheckpointHead head{ one.n_tokens, one.pos_min, one.pos_max, one.data_tgt.size() };
        file.write(reinterpret_cast<const char *>(&head), sizeof head);
        file.write(reinterpret_cast<const char *>(one.data_tgt.data()), static_cast<std::streamsize>(head.bytes));
        written.checkpoints += sizeof head + head.bytes;
    }
    if (!written.state || !file.flush())
        throw CodedError(
            "storage-failed", path + " cannot be written", "Check the folder and the free space of the disk.");
    throwIfCancelled(context);
    return written;
}

uint64_t restoreCells(Context & context, const std::string & path, const CellBytes & written) {
    std::list<common_prompt_checkpoint> checkpoints = readCheckpoints(path, written);
    std::vector<llama_token> tokens(context.effective.nCtx);
    size_t count = 0;
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
    if (!restored) corrupt(path, "it cannot be restored");
    throwIfCancelled(context);
    return count;
}

} // namespace concertina
