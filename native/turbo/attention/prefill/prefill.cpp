// Prefill: many query vectors per KV head. The plan of an operation, its scratch memory, and the work of a thread.

#include "prefill.h"

#include "turbo-hooks.h"

#include "ggml-cpu-impl.h"

#include <algorithm>
#include <cstring>

namespace {

// Query vectors of an item at most: the cost of expanding a tile is shared by all of them. Their Q and O are streamed once per
// tile, from the third-level cache if need be.
constexpr int MAX_BLOCK = 512;

// Items per thread at least, so that threads end together although the causal mask makes early rows cheap.
constexpr int ITEMS_PER_THREAD = 4;

// Register tiles in a part.
constexpr int TILES_PER_PART = 8;

// Fewer query vectors than this do not pay for the expansion.
constexpr int MIN_QUERIES = 4;

constexpr size_t ALIGN = 64;

int round_up(int n, int to) { return (n + to - 1) / to * to; }

const prefill_kernels * choose_kernels() {
    static const prefill_kernels * const tables[] = {
#ifdef TURBO_X86_KERNELS
        &prefill_kernels_avx512,
        &prefill_kernels_avx2,
#endif
#ifdef TURBO_NEON_KERNELS
        &prefill_kernels_neon,
#endif
    };
    for (const prefill_kernels * kern : tables) {
        if (strcmp(kern->level, ggml_turbo_simd_level()) == 0) { return kern; }
    }
    return &prefill_kernels_scalar;
}

const prefill_kernels & kernels() {
    static const prefill_kernels * const chosen = choose_kernels();
    return *chosen;
}

// False when the type has no decoder.
bool decoder_of(const prefill_kernels & kern, ggml_type type, ggml_to_float_t & decoder) {
    switch (type) {
        case GGML_TYPE_F32: decoder = nullptr; return true;
        case GGML_TYPE_F16: decoder = kern.f16; return true;
        case GGML_TYPE_Q8_0: decoder = kern.q8_0; return true;
        case GGML_TYPE_Q4_0: decoder = kern.q4_0; return true;
        default: decoder = turbo_v_decoder(type, ggml_get_type_traits(type)->to_float); return decoder != nullptr;
    }
}

// False when prefill does not take the operation.
bool make_plan(const turbo_attention & at, int n_threads, prefill_plan & plan) {
    plan = {};
    plan.kern = &kernels();
    plan.n_query = at.n_rows * at.gqa;
    if (plan.n_query < MIN_QUERIES || at.n_kv == 0 || !decoder_of(*plan.kern, at.k.type, plan.k_decoder) ||
        !decoder_of(*plan.kern, at.v.type, plan.v_decoder)) {
        return false;
    }

    const int mr = plan.kern->mr;
    const int nr = plan.kern->nr;
    const int heads = at.n_head_kv * at.n_stream;
    const int least =
        std::max((plan.n_query + MAX_BLOCK - 1) / MAX_BLOCK, (ITEMS_PER_THREAD * n_threads + heads - 1) / heads);
    plan.part = TILES_PER_PART * mr;
    plan.block = round_up((plan.n_query + least - 1) / least, plan.n_query > plan.part * least ? plan.part : mr);
    plan.n_block = (plan.n_query + plan.block - 1) / plan.block;

    plan.n_tile = (at.n_kv + PREFILL_TILE - 1) / PREFILL_TILE;
    plan.k_stride = at.k.head_dim;
    plan.v_stride = round_up(at.v.head_dim, nr);

    plan.view_size = (size_t) at.mask_n_stream * at.mask_n_head * at.n_rows * plan.n_tile;
    plan.view_size = (plan.view_size + ALIGN - 1) / ALIGN * ALIGN;
    prefill_buffers buf;
    plan.thread_size = prefill_lay_out(at, plan, nullptr, buf) - (char *) nullptr;
    return true;
}

// This thread's share of the table of views.
void fill_views(const turbo_attention & at, const prefill_plan & plan, uint8_t * views) {
    const int64_t n_row = (int64_t) at.mask_n_stream * at.mask_n_head * at.n_rows;
    for (int64_t i = n_row * at.ith / at.nth; i < n_row * (at.ith + 1) / at.nth; ++i) {
        const int64_t row = i % at.n_rows;
        const int64_t head = i / at.n_rows % at.mask_n_head;
        const int64_t stream = i / at.n_rows / at.mask_n_head;
        const uint16_t * mask =
            (const uint16_t *) (at.mask + row * at.mask_nb_row + head * at.mask_nb_head + stream * at.mask_nb_stream);
        for (int tile = 0; tile < plan.n_tile; ++tile) {
            const int first = tile * PREFILL_TILE;
            views[i * plan.n_tile + tile] = plan.kern->view(mask + first, std::min(PREFILL_TILE, at.n_kv - first));
        }
    }
}

char * aligned(char * p) { return (char *) (((uintptr_t) p + ALIGN - 1) / ALIGN * ALIGN); }

} // namespace

char * prefill_lay_out(const turbo_attention & at, const prefill_plan & plan, char * base, prefill_buffers & buf) {
    const auto take = [&base](size_t n) {
        float * p = (float *) base;
        base = base + (n * sizeof(float) + ALIGN - 1) / ALIGN * ALIGN;
        return p;
    };
    buf.q = take((size_t) plan.block * plan.k_stride);
    buf.out = take((size_t) plan.block * plan.v_stride);
    buf.max = take(plan.block);
    buf.sum = take(plan.block);
    buf.scores = take((size_t) plan.part * PREFILL_TILE);
    buf.k = take((size_t) PREFILL_TILE * at.k.head_dim);
    buf.v = take((size_t) PREFILL_TILE * plan.v_stride);
    buf.rows = take((size_t) plan.kern->nr * std::max(plan.k_stride, plan.v_stride));
    return base;
}

extern "C" size_t turbo_prefill_work(const turbo_attention * at, int n_threads) {
    prefill_plan plan;
    return make_plan(*at, n_threads, plan) ? ALIGN + plan.view_size + n_threads * plan.thread_size : 0;
}

extern "C" bool turbo_prefill_run(const turbo_attention * at) {
    prefill_plan plan;
    if (!make_plan(*at, at->nth, plan) || ALIGN + plan.view_size + at->nth * plan.thread_size > at->work_size) {
        return false;
    }

    char * base = aligned(at->work);
    uint8_t * views = (uint8_t *) base;
    prefill_buffers buf;
    prefill_lay_out(*at, plan, base + plan.view_size + at->ith * plan.thread_size, buf);

    fill_views(*at, plan, views);
    if (at->ith == 0) { ggml_threadpool_chunk_set(at->threadpool, at->nth); }
    ggml_barrier(at->threadpool);

    // late rows first: they see most, and a small item at the end leaves no thread waiting long
    const int heads = at->n_head_kv * at->n_stream;
    for (int item = at->ith; item < heads * plan.n_block; item = ggml_threadpool_chunk_add(at->threadpool, 1)) {
        const int head = item % heads;
        const int block = plan.n_block - 1 - item / heads;
        prefill_block(*at, plan, buf, views, head / at->n_head_kv, head % at->n_head_kv, block * plan.block);
    }
    return true;
}
