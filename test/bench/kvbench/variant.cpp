#include "kvbench.h"

#include "ggml-turbo.h"
#include "llama-turbo.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace {

// The layout of llama_kv_cache::state_write for one stream and one sequence (src/llama-kv-cache.cpp of the pin).
struct state_head {
    uint32_t magic;
    llama_seq_id seq_id;
    uint32_t n_stream;
    uint32_t n_cell;
};

struct state_cell {
    llama_pos pos;
    uint32_t n_seq_id;
    llama_seq_id seq_id;
};

struct state_data {
    uint32_t v_trans;
    uint32_t n_layer;
};

// Before the rows of each side of each layer, without padding.
constexpr size_t rows_head = sizeof(int32_t) + sizeof(uint64_t);

template <typename T> T read(const std::vector<uint8_t> & bytes, size_t at) {
    T value{};
    if (at + sizeof(T) <= bytes.size()) { memcpy(&value, bytes.data() + at, sizeof(T)); }
    return value;
}

template <typename T> void append(std::vector<uint8_t> & bytes, const T & value) {
    const auto * from = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
}

bool decode(llama_context * ctx, std::vector<llama_token> & tokens, size_t from, size_t to) {
    const size_t n_batch = llama_n_batch(ctx);
    for (; from < to; from += n_batch) {
        if (llama_decode(ctx, llama_batch_get_one(tokens.data() + from, int32_t(std::min(n_batch, to - from)))) != 0) {
            return false;
        }
    }
    return true;
}

ggml_type type_of(const std::string & name) {
    const ggml_type turbo = ggml_turbo_type_from_name(name.c_str());
    if (turbo != GGML_TYPE_COUNT) { return turbo; }
    for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
        const char * known = ggml_type_name(ggml_type(i));
        if (known != nullptr && name == known) { return ggml_type(i); }
    }
    give_up("ggml knows no type " + name + ".");
}

// Bytes that can be allocated without swapping; 0 where the system does not say.
int64_t available_memory() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("MemAvailable:", 0) == 0) { return strtoll(line.c_str() + 13, nullptr, 10) * 1024; }
    }
    return 0;
}

int64_t bytes_per_position(const cell_filler & cells) {
    int64_t sum = 0;
    for (const auto * side : { &cells.k, &cells.v }) {
        for (const cell_rows & rows : *side) { sum += int64_t(rows.row_size); }
    }
    return sum;
}

// A cache is twice in memory, as the context's and as that of the attention graph.
void require_memory(int64_t needed) {
    const int64_t free = available_memory();
    if (free > 0 && needed > free) {
        give_up("The contexts need about " + std::to_string(needed >> 20) + " MiB and " + std::to_string(free >> 20) +
                " MiB are free: give fewer --types or smaller --depths.");
    }
}

std::shared_ptr<kv_context> make_context(llama_model * model, ggml_type type_k, ggml_type type_v, int n_ctx,
    int n_batch, int n_threads, std::vector<llama_token> & tokens) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = uint32_t(n_ctx);
    params.n_batch = uint32_t(n_batch);
    params.n_ubatch = uint32_t(n_batch);
    params.n_threads = n_threads;
    params.n_threads_batch = n_threads;
    params.type_k = type_k;
    params.type_v = type_v;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.no_perf = true;

    auto kv = std::make_shared<kv_context>();
    kv->type_k = type_k;
    kv->type_v = type_v;
    kv->ctx.reset(llama_init_from_model(model, params));
    if (!kv->ctx) {
        give_up(std::string("No context with ") + ggml_type_name(type_k) + "/" + ggml_type_name(type_v) +
                " can be made for this model.");
    }
    if (!kv->cells.learn(kv->ctx.get(), tokens)) {
        give_up(std::string("The first tokens could not be decoded with ") + ggml_type_name(type_k) + "/" +
                ggml_type_name(type_v) + ".");
    }
    return kv;
}

void describe(const llama_model * model, const variant & one) {
    const kv_context & kv = *one.kv;
    const llama_turbo_resolution types = llama_turbo_resolve(model, kv.type_k, kv.type_v, true);
    print_event({ { "event", "variant" }, { "name", one.name }, { "stock", one.stock },
        { "typeK", ggml_type_name(types.type_k) }, { "typeV", ggml_type_name(types.type_v) },
        { "reasonK", types.reason_k ? types.reason_k : "" }, { "reasonV", types.reason_v ? types.reason_v : "" },
        { "plainCache", kv.cells.plain() }, { "bytesPerPosition", bytes_per_position(kv.cells) } });
}

} // namespace

bool cell_filler::learn(llama_context * ctx, std::vector<llama_token> & from) {
    tokens = from;
    llama_memory_clear(llama_get_memory(ctx), false);
    if (!decode(ctx, tokens, 0, tokens.size())) { return false; }
    state.resize(llama_state_seq_get_size(ctx, 0));
    if (llama_state_seq_get_data(ctx, state.data(), state.size(), 0) != state.size()) { return false; }
    if (!parse()) {
        k.clear();
        v.clear();
        state.clear();
    }
    return true;
}

// False unless every byte of the state is accounted for.
bool cell_filler::parse() {
    const auto head = read<state_head>(state, 0);
    if (head.n_stream != 1 || head.n_cell != tokens.size()) { return false; }
    for (uint32_t i = 0; i < head.n_cell; ++i) {
        const auto cell = read<state_cell>(state, sizeof(state_head) + i * sizeof(state_cell));
        if (cell.pos != llama_pos(i) || cell.n_seq_id != 1 || cell.seq_id != 0) { return false; }
    }
    size_t at = sizeof(state_head) + head.n_cell * sizeof(state_cell);
    const auto data = read<state_data>(state, at);
    at += sizeof(state_data);
    if (data.v_trans != 0 || data.n_layer == 0) { return false; }
    while (at + rows_head <= state.size()) {
        const auto type = read<int32_t>(state, at);
        const auto size = read<uint64_t>(state, at + sizeof(int32_t));
        at += rows_head;
        if (type < 0 || type >= GGML_TYPE_COUNT || size == 0 || size > (state.size() - at) / head.n_cell) {
            return false;
        }
        (k.size() < data.n_layer ? k : v).push_back({ ggml_type(type), size_t(size), at });
        at += size * head.n_cell;
    }
    return at == state.size() && k.size() == data.n_layer && v.size() <= data.n_layer;
}

// The state of a cache with depth cells, rows repeated from the learned ones.
std::vector<uint8_t> cell_filler::repeated(int depth) const {
    auto head = read<state_head>(state, 0);
    const size_t n_learned = head.n_cell;
    head.n_cell = uint32_t(depth);

    std::vector<uint8_t> out;
    out.reserve(state.size() / n_learned * size_t(depth) + state.size());
    append(out, head);
    for (int i = 0; i < depth; ++i) { append(out, state_cell{ i, 1, 0 }); }
    append(out, read<state_data>(state, sizeof(state_head) + n_learned * sizeof(state_cell)));
    for (const auto * side : { &k, &v }) {
        for (const cell_rows & rows : *side) {
            append(out, int32_t(rows.type));
            append(out, uint64_t(rows.row_size));
            for (size_t done = 0; done < size_t(depth); done += n_learned) {
                const auto from = state.begin() + std::ptrdiff_t(rows.offset);
                out.insert(
                    out.end(), from, from + std::ptrdiff_t(std::min(n_learned, size_t(depth) - done) * rows.row_size));
            }
        }
    }
    return out;
}

bool cell_filler::fill(llama_context * ctx, int depth) const {
    llama_memory_t memory = llama_get_memory(ctx);
    if (plain()) {
        // with the cache emptied the cells are given out from the first on, as a prefill does
        llama_memory_clear(memory, false);
        if (depth > 0) {
            const std::vector<uint8_t> bytes = repeated(depth);
            if (llama_state_seq_set_data(ctx, bytes.data(), bytes.size(), 0) != bytes.size()) { return false; }
        }
    } else {
        int n_past = int(llama_memory_seq_pos_max(memory, 0)) + 1;
        if (n_past > depth) {
            llama_memory_clear(memory, true);
            n_past = 0;
        }
        std::vector<llama_token> more(size_t(depth - n_past));
        for (size_t i = 0; i < more.size(); ++i) { more[i] = tokens[i % tokens.size()]; }
        if (!decode(ctx, more, 0, more.size())) { return false; }
    }
    return llama_memory_seq_pos_max(memory, 0) == depth - 1 &&
           (!plain() || llama_memory_seq_pos_min(memory, 0) == std::min(0, depth - 1));
}

void give_up(const std::string & why) {
    fprintf(stderr, "kvbench: %s\n", why.c_str());
    exit(3);
}

void variant::select() const { ggml_turbo_attention_enable(!stock); }

std::vector<variant> make_variants(
    llama_model * model, const bench_options & options, int n_ctx, int n_batch, std::vector<llama_token> tokens) {
    std::vector<variant> variants;
    ggml_turbo_attention_enable(true);
    for (const variant_options & wanted : options.variants) {
        const ggml_type type_k = type_of(wanted.type_k);
        const ggml_type type_v = type_of(wanted.type_v);
        variant one = { wanted.name, wanted.stock, nullptr };
        for (const variant & earlier : variants) {
            if (earlier.kv->type_k == type_k && earlier.kv->type_v == type_v) { one.kv = earlier.kv; }
        }
        if (!one.kv) {
            if (!variants.empty()) { require_memory(2 * n_ctx * bytes_per_position(variants.front().kv->cells)); }
            one.kv = make_context(model, type_k, type_v, n_ctx, n_batch, options.n_threads, tokens);
        }
        describe(model, one);
        variants.push_back(std::move(one));
    }
    return variants;
}
