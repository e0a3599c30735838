// Graphs on ggml's Metal backend as a Mac encodes them: ggml-metal's C++ with our patches, metal/host/mac, the plans. Below that is a
// stand-in for the Objective-C (mac/fake-metal.h).

#include "../../native/check.h"
#include "../../native/samples.h"
#include "../mac/fake-metal.h"

#include "ggml-alloc.h"
#include "ggml-metal-ops.h"
#include "ggml-turbo.h"
#include "turbo-hooks.h"
#include "turbo-metal.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

struct problem {
    ggml_type type_k, type_v;
    int n_rows = 1;
    int n_kv = 96;
    int dim = 128;
    int n_head_kv = 2;
    int gqa = 3;
    bool recent = false; // every other tile of positions is held in q8_0, too
};

// As llama.cpp builds a layer: new rows go into the cache, attention reads views of it. K and V of all positions are new.
class layer {
public:
    explicit layer(const problem & p)
        : p(p), ctx(ggml_init({ 64 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true })) {
        graph = ggml_new_graph(ctx);
        q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, p.dim, p.n_head_kv * p.gqa, p.n_rows);
        index = ggml_new_tensor_1d(ctx, GGML_TYPE_I64, p.n_kv);
        mask = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, p.n_kv, p.n_rows);
        if (p.recent) {
            recent = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 2 * p.dim * p.n_head_kv, p.n_kv);
            slots = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, p.n_kv / TILE);
            places = ggml_new_tensor_1d(ctx, GGML_TYPE_I64, p.n_kv);
        }
        k = side(p.type_k, new_k, cache_k);
        v = side(p.type_v, new_v, cache_v);
        out = ggml_flash_attn_ext(ctx, ggml_permute(ctx, q, 0, 2, 1, 3), k, v, mask, scale(), 0.0f, 0.0f);
        if (p.recent) {
            out->src[TURBO_SRC_RECENT_ROWS] = recent;
            out->src[TURBO_SRC_RECENT_SLOTS] = slots;
        }
        ggml_build_forward_expand(graph, out);
        buffer = ggml_backend_alloc_ctx_tensors(ctx, fake_metal_backend());
        fill();
    }
    ~layer() {
        ggml_backend_buffer_free(buffer);
        ggml_free(ctx);
    }
    void compute() {
        CHECK(ggml_backend_graph_compute(fake_metal_backend(), graph) == GGML_STATUS_SUCCESS);
        CHECK_STR(fake_metal_reports(), "");
    }
    float scale() const { return 1.0f / std::sqrt((float) p.dim); }
    // Values of a side as attention has to read them, [position][head][dim].
    std::vector<float> values(const ggml_tensor * cache) const {
        std::vector<float> x = decoded(cache);
        if (!p.recent || !ggml_turbo_is_turbo(cache->type)) { return x; }
        const std::vector<float> rows = decoded(recent);
        const size_t width = p.dim * p.n_head_kv;
        for (int i = 0; i < p.n_kv; ++i) {
            if (slot_of(i / TILE) < 0) { continue; }
            const size_t row = slot_of(i / TILE) * TILE + i % TILE;
            std::copy_n(rows.begin() + (2 * row + (cache == cache_v)) * width, width, x.begin() + i * width);
        }
        return x;
    }
    std::vector<float> decoded(const ggml_tensor * t) const {
        std::vector<uint8_t> bytes(ggml_nbytes(t));
        ggml_backend_tensor_get(t, bytes.data(), 0, bytes.size());
        std::vector<float> x(ggml_nelements(t));
        ggml_get_type_traits(t->type)->to_float(bytes.data(), x.data(), x.size());
        return x;
    }

    const problem p;
    ggml_tensor *q, *index, *mask, *k, *v, *out;
    ggml_tensor *new_k, *new_v, *cache_k, *cache_v;
    ggml_tensor *recent = nullptr, *slots, *places;
    std::vector<float> queries;

private:
    static constexpr int TILE = TURBO_RECENT_TILE;

    // Odd tiles are held, in reverse.
    int slot_of(int tile) const { return tile % 2 ? p.n_kv / TILE - 1 - tile : -1; }
    ggml_tensor * side(ggml_type type, ggml_tensor *& fresh, ggml_tensor *& cache) {
        const int row = p.dim * p.n_head_kv;
        fresh = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, row, p.n_kv);
        cache = ggml_new_tensor_2d(ctx, type, row, p.n_kv);
        if (ggml_turbo_is_turbo(type)) {
            ggml_tensor * stored = ggml_set_rows(ctx, cache, fresh, index);
            if (p.recent) {
                const size_t offset = &cache == &cache_v ? ggml_row_size(GGML_TYPE_Q8_0, row) : 0;
                stored->src[TURBO_SRC_RECENT_ROWS] = ggml_view_2d(ctx, recent, row, p.n_kv, recent->nb[1], offset);
                stored->src[TURBO_SRC_RECENT_PLACES] = places;
            }
            ggml_build_forward_expand(graph, stored);
        }
        ggml_tensor * heads =
            ggml_view_3d(ctx, cache, p.dim, p.n_head_kv, p.n_kv, ggml_row_size(type, p.dim), cache->nb[1], 0);
        return ggml_permute(ctx, heads, 0, 2, 1, 3);
    }
    void fill() {
        queries = gaussian(ggml_nelements(q), 1.0f, 1);
        ggml_backend_tensor_set(q, queries.data(), 0, ggml_nbytes(q));
        ggml_backend_tensor_memset(mask, 0, 0, ggml_nbytes(mask)); // everything is visible
        std::vector<int64_t> rows(p.n_kv);
        for (int i = 0; i < p.n_kv; ++i) rows[i] = i;
        ggml_backend_tensor_set(index, rows.data(), 0, ggml_nbytes(index));
        if (p.recent) {
            std::vector<int32_t> of_tiles;
            for (int tile = 0; tile < p.n_kv / TILE; ++tile) of_tiles.push_back(slot_of(tile));
            ggml_backend_tensor_set(slots, of_tiles.data(), 0, ggml_nbytes(slots));
            for (int i = 0; i < p.n_kv; ++i) {
                const int slot = slot_of(i / TILE);
                rows[i] = slot < 0 ? -1 : slot * TILE + i % TILE;
            }
            ggml_backend_tensor_set(places, rows.data(), 0, ggml_nbytes(places));
        }
        set(new_k, cache_k, 2);
        set(new_v, cache_v, 3);
    }
    // set_rows of types that are not ours is upstream's kernel: their cache is filled here
    void set(ggml_tensor * fresh, ggml_tensor * cache, unsigned seed) {
        const std::vector<float> x = gaussian(ggml_nelements(fresh), 1.0f, seed);
        ggml_backend_tensor_set(fresh, x.data(), 0, ggml_nbytes(fresh));
        if (ggml_turbo_is_turbo(cache->type)) return;
        std::vector<uint8_t> bytes(ggml_nbytes(cache));
        ggml_get_type_traits(cache->type)->from_float_ref(x.data(), bytes.data(), x.size());
        ggml_backend_tensor_set(cache, bytes.data(), 0, bytes.size());
    }

    ggml_context * ctx;
    ggml_cgraph * graph;
    ggml_backend_buffer_t buffer;
};

// Relative squared error of the output against double precision on the values that the cache holds.
double error_of(const layer & l) {
    const problem & p = l.p;
    const std::vector<float> k = l.values(l.cache_k), v = l.values(l.cache_v);
    std::vector<float> got(ggml_nelements(l.out));
    ggml_backend_tensor_get(l.out, got.data(), 0, ggml_nbytes(l.out));
    const int n_head = p.n_head_kv * p.gqa;
    double error = 0.0, power = 0.0;
    for (int row = 0; row < p.n_rows; ++row) {
        for (int head = 0; head < n_head; ++head) {
            std::vector<double> want(p.dim);
            double sum = 0.0;
            for (int i = 0; i < p.n_kv; ++i) {
                const size_t at = ((size_t) i * p.n_head_kv + head / p.gqa) * p.dim;
                double score = 0.0;
                for (int d = 0; d < p.dim; ++d)
                    score += (double) l.queries[((size_t) row * n_head + head) * p.dim + d] * k[at + d];
                const double weight = std::exp(score * l.scale());
                sum += weight;
                for (int d = 0; d < p.dim; ++d) want[d] += weight * v[at + d];
            }
            for (int d = 0; d < p.dim; ++d) {
                const double w = want[d] / sum;
                const double e = got[((size_t) row * n_head + head) * p.dim + d] - w;
                error += e * e;
                power += w * w;
            }
        }
    }
    return error / power;
}

std::vector<std::string> kernels() {
    std::vector<std::string> names;
    for (const fake_dispatch & d : fake_metal_log()) names.push_back(d.kernel);
    return names;
}

const fake_dispatch & dispatch_of(const std::string & kernel) {
    for (const fake_dispatch & d : fake_metal_log()) {
        if (d.kernel == kernel) return d;
    }
    check(false, __FILE__, __LINE__, kernel + " was not encoded");
    static const fake_dispatch none = {};
    return none;
}

// Values of a side that are not as its f16 copy should have them, [head][position][dim].
int expansion_errors(const layer & l, const ggml_tensor * cache, const uint8_t * at) {
    const problem & p = l.p;
    const std::vector<float> want = l.values(cache);
    int wrong = 0;
    for (int h = 0; h < p.n_head_kv; ++h) {
        for (int i = 0; i < p.n_kv; ++i) {
            for (int d = 0; d < p.dim; ++d) {
                const ggml_fp16_t got = ((const ggml_fp16_t *) at)[((size_t) h * p.n_kv + i) * p.dim + d];
                wrong += got != ggml_fp32_to_fp16(want[((size_t) i * p.n_head_kv + h) * p.dim + d]);
            }
        }
    }
    return wrong;
}

bool is_near(const std::vector<float> & a, const std::vector<float> & b, double limit) {
    return relative_mse(a, b) < limit;
}

} // namespace

TEST("mac host: a token of a layer: rows into the cache, attention, its merge") {
    for (const ggml_type v : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 }) {
        layer l({ GGML_TYPE_TURBO4, v });
        l.compute();
        const std::string of_v = ggml_type_name(v);
        CHECK((kernels() == std::vector<std::string>{ "kernel_turbo_set_rows_turbo4", "kernel_turbo_set_rows_" + of_v,
                                "kernel_turbo_attention_dk128_dv128_q4", "kernel_turbo_attention_merge" }));
        CHECK_LE(error_of(l), 1e-10);
        CHECK(is_near(gaussian(128 * 2 * 96, 1.0f, 2), l.values(l.cache_k), 0.01));
        // rows of K and V go in at once; each step after them waits
        CHECK(!fake_metal_log()[1].after && fake_metal_log()[2].after && fake_metal_log()[3].after);
    }
}

// K and V of both kinds, and q8_0 beside them, which is as fine as the window and is read from the cache.
TEST("mac host: a window of recent cells is stored, and read for a token, a draft and a prompt") {
    for (const ggml_type v : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_Q8_0 }) {
        for (const int n_rows : { 1, 4, 32 }) {
            problem p = { v == GGML_TYPE_TURBO4 ? GGML_TYPE_TURBO3 : GGML_TYPE_TURBO4, v, n_rows, 160 };
            p.recent = true;
            layer l(p);
            l.compute();
            const std::vector<float> k = gaussian(ggml_nelements(l.new_k), 1.0f, 2);
            std::vector<float> held, wanted;
            const size_t tile = k.size() / 5;
            for (const int i : { 1, 3 }) {
                const std::vector<float> x = l.values(l.cache_k);
                held.insert(held.end(), x.begin() + i * tile, x.begin() + (i + 1) * tile);
                wanted.insert(wanted.end(), k.begin() + i * tile, k.begin() + (i + 1) * tile);
            }
            CHECK_LE(relative_mse(wanted, held), 1e-4);
            if (n_rows < 32) {
                CHECK_LE(error_of(l), 1e-10);
                continue;
            }
            const fake_dispatch & attention = dispatch_of("kernel_flash_attn_ext_f16_dk128_dv128");
            CHECK(expansion_errors(l, l.cache_k, attention.slots.at(2)) == 0);
            CHECK(expansion_errors(l, l.cache_v, attention.slots.at(3)) == 0);
        }
    }
}

TEST("mac host: q8_0 and f16 beside turbo") {
    for (const ggml_type other : { GGML_TYPE_Q8_0, GGML_TYPE_F16 }) {
        layer k({ other, GGML_TYPE_TURBO3 });
        k.compute();
        CHECK_LE(error_of(k), 1e-10);
        layer v({ GGML_TYPE_TURBO4, other });
        v.compute();
        CHECK_LE(error_of(v), 1e-10);
    }
}

TEST("mac host: four rows, as of a draft, take the decode kernel") {
    problem p = { GGML_TYPE_TURBO4, GGML_TYPE_TURBO4 };
    p.n_rows = 4;
    layer l(p);
    l.compute();
    CHECK(kernels()[2] == "kernel_turbo_attention_dk128_dv128_q8");
    CHECK_LE(error_of(l), 1e-10);
}

// What upstream's f16 kernel reads: K and V of the cache in f16, behind its own memory and inside what was reserved.
TEST("mac host: a prompt: K and V become f16 tensors for upstream's kernel") {
    for (const ggml_type k : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_Q8_0, GGML_TYPE_F16 }) {
        problem p = { k, GGML_TYPE_TURBO3 };
        p.n_rows = 32;
        layer l(p);
        l.compute();
        const fake_dispatch & attention = dispatch_of("kernel_flash_attn_ext_f16_dk128_dv128");
        const uint8_t * begin =
            (const uint8_t *) l.out->data + ggml_nbytes(l.out) + ggml_metal_op_flash_attn_ext_extra_tmp(l.out);
        const uint8_t * end =
            (const uint8_t *) l.out->data +
            ggml_backend_buft_get_alloc_size(ggml_backend_get_default_buffer_type(fake_metal_backend()), l.out);
        size_t bytes = sizeof(ggml_fp16_t) * p.dim * p.n_kv * p.n_head_kv;
        for (const int slot : { 2, 3 }) {
            const ggml_tensor * cache = slot == 2 ? l.cache_k : l.cache_v;
            const uint8_t * at = attention.slots.at(slot);
            if (cache->type == GGML_TYPE_F16) {
                CHECK(at == cache->data);
                continue;
            }
            CHECK(at >= begin && at + bytes <= end);
            CHECK(attention.slots.at(6) + ggml_metal_op_flash_attn_ext_extra_pad(l.out) <= at);
            CHECK(expansion_errors(l, cache, at) == 0);
        }
        if (k != GGML_TYPE_F16) {
            const uint8_t *k16 = attention.slots.at(2), *v16 = attention.slots.at(3);
            CHECK(k16 + bytes <= v16 || v16 + bytes <= k16);
        }
        // the kernel after the copies waits for them
        const auto & log = fake_metal_log();
        for (size_t i = 0; i + 1 < log.size(); ++i) {
            if (log[i].kernel.find("copy_to") != std::string::npos && log[i + 1].kernel.find("kernel_flash") == 0 &&
                log[i + 1].kernel.find("_kv_") == std::string::npos) {
                CHECK(log[i + 1].after);
            }
        }
    }
}

TEST("mac host: without turbo types everything is upstream's") {
    layer l({ GGML_TYPE_F16, GGML_TYPE_F16 });
    l.compute();
    for (const std::string & name : kernels()) CHECK(name.find("turbo") == std::string::npos);
    CHECK(!kernels().empty());
}

TEST("mac host: the device refuses what has no kernel") {
    ggml_context * ctx = ggml_init({ 16 * ggml_tensor_overhead(), nullptr, true });
    ggml_backend_dev_t dev = ggml_backend_get_device(fake_metal_backend());
    ggml_tensor * q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 128, 1, 4);
    ggml_tensor * k = ggml_new_tensor_3d(ctx, GGML_TYPE_TURBO4, 128, 64, 2);
    ggml_tensor * v = ggml_new_tensor_3d(ctx, GGML_TYPE_Q4_0, 128, 64, 2);
    CHECK(ggml_backend_dev_supports_op(dev, ggml_flash_attn_ext(ctx, q, k, k, nullptr, 0.1f, 0.0f, 0.0f)));
    CHECK(!ggml_backend_dev_supports_op(dev, ggml_flash_attn_ext(ctx, q, k, v, nullptr, 0.1f, 0.0f, 0.0f)));
    CHECK(!ggml_backend_dev_supports_op(dev, ggml_mul_mat(ctx, k, q)));
    ggml_free(ctx);
}
