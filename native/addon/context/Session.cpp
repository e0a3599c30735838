#include "context/Session.h"

#include "errors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
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

// One that no slot has: upstream's caches have room for 256 sequences (LLAMA_MAX_SEQ), of which slots take the first. Sequences of
// one stream share cells, and all of ours are in one (kv_unified), so nothing is copied. It is let go before the next batch.
constexpr llama_seq_id spareSequence = 255;

// of the context, and of what drafts where it can take part
void inMemories(Context & context, const std::function<void(llama_memory_t)> & change) {
    change(llama_get_memory(context.handle));
    llama_context * draft = context.scheduler->draft();
    if (draft && sharesCells(draft)) change(llama_get_memory(draft));
}

// For as long as it lives the context's sequence is a stretch of what it was, and the spare one holds the rest: upstream writes
// cells only of sequences that a slot may have.
class Narrowed {
public:
    Narrowed(Context & context, llama_pos from, llama_pos to) : context(context) {
        inMemories(context, [&](llama_memory_t memory) {
            llama_memory_seq_cp(memory, context.slot, spareSequence, -1, -1);
            if (from > 0) llama_memory_seq_rm(memory, context.slot, 0, from);
            llama_memory_seq_rm(memory, context.slot, to, -1);
        });
    }
    ~Narrowed() {
        inMemories(context, [&](llama_memory_t memory) {
            // a cell must not be given to a sequence that has it
            llama_memory_seq_rm(memory, context.slot, -1, -1);
            llama_memory_seq_cp(memory, spareSequence, context.slot, -1, -1);
            llama_memory_seq_rm(memory, spareSequence, -1, -1);
        });
    }
    Narrowed(const Narrowed &) = delete;
    Narrowed & operator=(const Narrowed &) = delete;

private:
    Context & context;
};

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

// The draft's state is the last of the checkpoints.
std::vector<uint8_t> takeDraft(std::list<common_prompt_checkpoint> & checkpoints) {
    std::vector<uint8_t> draft;
    if (!checkpoints.empty() && checkpoints.back().n_tokens == draftMark) {
        draft = std::move(checkpoints.back().data_tgt);
        checkpoints.pop_back();
    }
    return draft;
}

// As upstream's slots are saved: text as it is, with images and sound in a form of its own, which says what they were.
std::vector<llama_token> packed(const server_tokens & tokens) {
    const std::vector<char> bytes = tokens.serialize();
    std::vector<llama_token> form(bytes.size() / sizeof(llama_token));
    std::memcpy(form.data(), bytes.data(), bytes.size());
    return form;
}

constexpr size_t formExtra = 1 << 20; // beyond one for each cell: what a form says of its images

// none: they cannot be cells of such a context
server_tokens unpacked(const Context & context, const std::vector<llama_token> & form) {
    try {
        server_tokens tokens = server_tokens::deserialize(form, context.scheduler->sees());
        if (tokens.size() <= context.effective.nCtx && tokens.validate(context.handle)) return tokens;
    } catch (const std::exception &) {
        // said by the caller
    }
    return {};
}

// Tokens of the file, whose cells go behind those of the context; none: they are not what follows them.
size_t append(Context & context, const std::string & path, const std::vector<uint8_t> & draft) {
    const auto from = static_cast<llama_pos>(context.tokens.size());
    std::vector<llama_token> tokens(context.effective.nCtx - context.tokens.size());
    size_t count = 0;
    context.extend([&] {
        if (!llama_state_seq_load_file(
                context.handle, path.c_str(), spareSequence, tokens.data(), tokens.size(), &count))
            count = 0;
        const llama_memory_t memory = llama_get_memory(context.handle);
        const bool follows =
            count > 0 && llama_memory_seq_pos_min(memory, spareSequence) == from &&
            llama_memory_seq_pos_max(memory, spareSequence) + 1 == from + static_cast<llama_pos>(count);
        if (!follows || context.cancel->load()) count = 0;
        tokens.resize(count);
        llama_context * drafting = context.scheduler->draft();
        if (count > 0 && drafting && !draft.empty() && sharesCells(drafting))
            restoreDraft(drafting, draft, spareSequence, context.tokens.size() + count);
        inMemories(context, [&](llama_memory_t each) {
            if (count > 0) llama_memory_seq_cp(each, spareSequence, context.slot, -1, -1);
            llama_memory_seq_rm(each, spareSequence, -1, -1);
        });
        return tokens;
    });
    return count;
}

} // namespace

CellBytes saveCells(Context & context, const std::string & path, size_t from, size_t to) {
    const bool whole = from == 0 && to == context.tokens.size();
    if (from >= to || to > context.tokens.size() || (!whole && !sharesCells(context.handle)))
        throw CodedError("bad-request", "The context has no such stretch of tokens to save");
    CellBytes written;
    std::list<common_prompt_checkpoint> checkpoints;
    context.scheduler->call([&] {
        if (!context.scheduler->holds(context.slot, context.tokens))
            throw CodedError("busy", "A request of the API has taken the cells of this chat", "");
        std::vector<llama_token> kept(context.tokens.begin() + from, context.tokens.begin() + to);
        if (std::any_of(kept.begin(), kept.end(), isMedia)) {
            if (!whole) throw CodedError("bad-request", "A stretch of tokens with images or sound cannot be saved");
            kept = packed(context.scheduler->tokens(context.slot));
        }
        std::optional<Narrowed> narrowed;
        if (!whole) narrowed.emplace(context, static_cast<llama_pos>(from), static_cast<llama_pos>(to));
        written.state = llama_state_seq_save_file(context.handle, path.c_str(), context.slot, kept.data(), kept.size());
        if (whole) checkpoints = context.scheduler->checkpoints(context.slot);
        llama_context * draft = context.scheduler->draft();
        if (draft && (whole || sharesCells(draft))) checkpoints.push_back(draftState(draft, context.slot));
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

uint64_t restoreCells(Context & context, const std::string & path, const CellBytes & written, size_t from) {
    if (from != 0 && (from != context.tokens.size() || !sharesCells(context.handle)))
        throw CodedError("bad-request", "The context does not hold what these tokens follow");
    std::list<common_prompt_checkpoint> checkpoints = readCheckpoints(path, written);
    const std::vector<uint8_t> draft = takeDraft(checkpoints);
    if (from != 0) {
        const size_t added = append(context, path, draft);
        throwIfCancelled(context);
        if (added == 0) corrupt(path, "it cannot be restored");
        return added;
    }
    std::vector<llama_token> form(context.effective.nCtx + formExtra);
    size_t count = 0, cells = 0;
    bool restored = false;
    context.adopt(
        [&](llama_seq_id sequence) {
            restored =
                llama_state_seq_load_file(context.handle, path.c_str(), sequence, form.data(), form.size(), &count);
            form.resize(restored ? count : 0);
            server_tokens tokens = unpacked(context, form);
            // cells of a stretch that something comes before are none of a beginning
            const llama_pos last = llama_memory_seq_pos_max(llama_get_memory(context.handle), sequence);
            restored = restored && last + 1 == tokens.pos_next();
            const bool kept = restored && !context.cancel->load();
            if (!kept) llama_memory_seq_rm(llama_get_memory(context.handle), sequence, -1, -1);
            if (!kept) tokens.clear();
            cells = tokens.size();
            llama_context * drafting = context.scheduler->draft();
            if (kept && drafting && !draft.empty()) restoreDraft(drafting, draft, sequence, tokens.pos_next());
            return tokens;
        },
        std::move(checkpoints));
    if (!restored) corrupt(path, "it cannot be restored");
    throwIfCancelled(context);
    return cells;
}

} // namespace concertina
