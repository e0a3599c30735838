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

// Of the model that drafts: among the checkpoints, as one of no length. Without it, drafts would know nothing of the text.
constexpr int draftMark = -1;

common_prompt_checkpoint draftState(llama_context * draft, llama_seq_id sequence) {
    common_prompt_checkpoint state;
    state.update_pos(draftMark, draftMark, draftMark);
    state.data_tgt.resize(llama_state_seq_get_size_ext(draft, sequence, 0));
    llama_state_seq_get_data_ext(draft, state.data_tgt.data(), state.data_tgt.size(), sequence, 0);
    return state;
}

// Another draft's, or that of other tokens, is not used: it would only cost drafts.
void restoreDraft(llama_context * draft, const std::vector<uint8_t> & state, llama_seq_id sequence, size_t tokens) {
    const size_t read = llama_state_seq_set_data_ext(draft, state.data(), state.size(), sequence, 0);
    llama_memory_t memory = llama_get_memory(draft);
    const bool whole = read > 0 && llama_memory_seq_pos_max(memory, sequence) + 1 == static_cast<llama_pos>(tokens);
    if (!whole) llama_memory_seq_rm(memory, sequence, -1, -1);
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
        if (llama_context * draft = context.scheduler->draft()) checkpoints.push_back(draftState(draft, context.slot));
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
    std::vector<uint8_t> draft;
    if (!checkpoints.empty() && checkpoints.back().n_tokens == draftMark) {
        draft = std::move(checkpoints.back().data_tgt);
        checkpoints.pop_back();
    }
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
            llama_context * drafting = context.scheduler->draft();
            if (kept && drafting && !draft.empty()) restoreDraft(drafting, draft, sequence, count);
            return tokens;
        },
        std::move(checkpoints));
    if (!restored) corrupt(path, "it cannot be restored");
    throwIfCancelled(context);
    return count;
}

} // namespace concertina
