// Decode attention against double precision: every format, shape, table, mask; all orders of lanes.

#include "../../native/check.h"
#include "dispatch.h"

#include "ggml-turbo.h"
#include "turbo-metal-impl.h"

#include <random>

namespace {

struct shape {
    int dim_k, dim_v;
};
const shape shapes[] = { { 64, 64 }, { 128, 128 }, { 256, 256 }, { 192, 128 }, { 96, 64 } };

std::vector<ggml_type> types_of(int dim) {
    if (dim == 64) return { GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64, GGML_TYPE_Q8_0, GGML_TYPE_F16 };
    if (dim % 128 == 0) return { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_Q8_0, GGML_TYPE_F16 };
    return { GGML_TYPE_Q8_0, GGML_TYPE_F16 };
}

// Exact: no rows of V left out.
turbo_metal_variant exact(const attention_case & c) {
    turbo_metal_variant v = variant_for(c);
    v.skip_v = false;
    return v;
}

template <class T> T pick(const std::vector<T> & list, std::mt19937 & rng) { return list[rng() % list.size()]; }

attention_case random_case(unsigned seed) {
    std::mt19937 rng(seed);
    attention_case c;
    c.seed = seed;
    const shape s = shapes[rng() % 5];
    c.dim_k = s.dim_k;
    c.dim_v = s.dim_v;
    c.type_k = pick(types_of(s.dim_k), rng);
    c.type_v = pick(types_of(s.dim_v), rng);
    c.gqa = pick<int>({ 1, 2, 3, 4, 5, 6, 7, 8, 16 }, rng);
    c.n_head_kv = 1 + rng() % 2;
    c.n_kv = pick<int>({ 1, 2, 31, 32, 33, 65, 77, 127, 200 }, rng);
    c.n_rows = std::min(c.n_kv, rng() % 3 == 0 ? 1 + (int) (rng() % 4) : 1);
    c.n_stream = rng() % 4 == 0 ? 2 : 1;
    c.by_head = rng() % 3 == 0;
    c.sinks = rng() % 3 == 0;
    c.softcap = rng() % 4 == 0 ? 4.0f : 0.0f;
    c.max_bias = rng() % 4 == 0 ? 8.0f : 0.0f;
    c.mask = pick<mask_kind>(
        { mask_kind::none, mask_kind::causal, mask_kind::holes, mask_kind::window, mask_kind::row_hidden }, rng);
    return c;
}

} // namespace

TEST("attention: every pair of types at every head_dim, every table") {
    for (const shape & s : shapes) {
        for (const ggml_type k : types_of(s.dim_k)) {
            for (const ggml_type v : types_of(s.dim_v)) {
                if (!ggml_turbo_is_turbo(k) && !ggml_turbo_is_turbo(v)) continue;
                attention_case c;
                c.type_k = k;
                c.type_v = v;
                c.dim_k = s.dim_k;
                c.dim_v = s.dim_v;
                c.gqa = 2;
                c.n_head_kv = 1;
                c.n_kv = 77;
                turbo_metal_variant variant = exact(c);
                for (int table = 0; table < TURBO_METAL_TABLES; ++table) {
                    variant.table = table;
                    check_attention(c, variant);
                }
            }
        }
    }
}

// Kernels for fast math exist for this shape (build.mjs); upper ends of their errors are those of rounding all the same.
TEST("attention, any math: types, tables, masks, sinks, soft cap, ALiBi at head_dim 128") {
    for (unsigned seed = 1; seed <= 24; ++seed) {
        attention_case c = random_case(seed);
        c.dim_k = c.dim_v = 128;
        c.type_k = seed % 2 ? GGML_TYPE_TURBO4 : GGML_TYPE_TURBO3;
        c.type_v = seed % 3 ? GGML_TYPE_TURBO3 : GGML_TYPE_TURBO4;
        c.gqa = 3 + seed % 2;
        c.n_rows = 1;
        turbo_metal_variant v = exact(c);
        v.table = seed / 2 % TURBO_METAL_TABLES;
        check_attention(c, v);
    }
}

TEST("attention, any math: a window of recent cells") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        attention_case c = random_case(seed);
        c.recent = true;
        c.n_stream = 1;
        c.dim_k = c.dim_v = 128;
        c.type_k = seed % 2 ? GGML_TYPE_TURBO4 : GGML_TYPE_TURBO3;
        c.type_v = seed % 3 ? GGML_TYPE_TURBO3 : GGML_TYPE_TURBO4;
        c.gqa = 3 + seed % 2;
        c.n_rows = 1;
        c.n_head_kv = 2;
        c.n_kv = 190 + (int) seed;
        turbo_metal_variant variant = exact(c);
        variant.table = (int) seed / 2 % TURBO_METAL_TABLES;
        check_attention(c, variant);
    }
}

TEST("attention: a window at every head_dim, in every order of lanes") {
    for (const shape & s : shapes) {
        for (const ggml_type v : { types_of(s.dim_v)[0], types_of(s.dim_v)[1] }) {
            if (!ggml_turbo_is_turbo(v)) continue;
            attention_case c;
            c.recent = true;
            c.type_k = types_of(s.dim_k)[0];
            c.type_v = v;
            if (!ggml_turbo_is_turbo(c.type_k)) continue;
            c.dim_k = s.dim_k;
            c.dim_v = s.dim_v;
            c.gqa = 3;
            c.n_kv = 150;
            turbo_metal_variant variant = exact(c);
            for (const msl_schedule & schedule : msl_all_schedules()) {
                check_attention(c, variant, schedule);
                variant.table = (variant.table + 1) % TURBO_METAL_TABLES;
            }
        }
    }
}

TEST("attention: GQA ratios 1 to 16 at every head_dim") {
    for (const shape & s : shapes) {
        for (int gqa = 1; gqa <= 16; ++gqa) {
            attention_case c;
            c.type_v = types_of(s.dim_v)[gqa % 2];
            c.type_k = types_of(s.dim_k)[0];
            c.dim_k = s.dim_k;
            c.dim_v = s.dim_v;
            c.gqa = gqa;
            c.n_head_kv = 2;
            c.n_kv = 45;
            c.sinks = true;
            check_attention(c, exact(c));
        }
    }
}

TEST("attention: lengths around the tile, every order of lanes") {
    for (const int n_kv : { 1, 31, 32, 33, 64, 97 }) {
        attention_case c;
        c.type_k = n_kv % 2 ? GGML_TYPE_TURBO4 : GGML_TYPE_TURBO3;
        c.type_v = n_kv % 2 ? GGML_TYPE_TURBO3 : GGML_TYPE_TURBO4;
        c.gqa = 3;
        c.n_head_kv = 1;
        c.n_kv = n_kv;
        c.mask = mask_kind::none;
        turbo_metal_variant v = exact(c);
        v.splits = v.simdgroups = std::min(2, (n_kv + 31) / 32);
        for (const msl_schedule & schedule : msl_all_schedules()) { check_attention(c, v, schedule); }
    }
}

TEST("attention: the same bits in every order of lanes") {
    attention_case c;
    c.type_k = c.type_v = GGML_TYPE_TURBO3;
    c.gqa = 4;
    c.n_kv = 100;
    c.mask = mask_kind::holes;
    attention_data data(c);
    const turbo_metal_variant v = variant_for(c);
    const std::vector<float> first = run_attention(c, data, v).values;
    for (const msl_schedule & schedule : msl_all_schedules(4)) {
        CHECK(run_attention(c, data, v, schedule).values == first);
    }
}

TEST("attention: masks, sinks, soft cap, ALiBi, rows and streams at random") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const attention_case c = random_case(seed);
        if (!ggml_turbo_is_turbo(c.type_k) && !ggml_turbo_is_turbo(c.type_v)) continue;
        turbo_metal_variant v = exact(c);
        v.table = seed % TURBO_METAL_TABLES;
        check_attention(c, v, msl_all_schedules()[seed % msl_all_schedules().size()]);
    }
}

TEST("attention: nothing visible gives zeros, with and without a sink") {
    for (const bool sinks : { false, true }) {
        attention_case c;
        c.type_k = c.type_v = GGML_TYPE_TURBO4;
        c.mask = mask_kind::row_hidden; // of one row: all
        c.sinks = sinks;
        c.n_kv = 70;
        attention_data data(c);
        for (const float x : run_attention(c, data, exact(c)).values) { CHECK(x == 0.0f); }
    }
}

TEST("attention: splits, and rows of V of no weight left out") {
    attention_case c;
    c.type_k = GGML_TYPE_TURBO4;
    c.type_v = GGML_TYPE_TURBO3;
    c.gqa = 4;
    c.n_head_kv = 1;
    c.n_kv = 333;
    for (const int splits : { 1, 2, 4, 8, 11 }) {
        for (const int simdgroups : { 1, 2, 4 }) {
            if (splits % simdgroups != 0) continue;
            turbo_metal_variant v = exact(c);
            v.splits = splits;
            v.simdgroups = simdgroups;
            check_attention(c, v);
            v.skip_v = true;
            // what is left out: at most every position at the limit
            check_attention(c, v, {}, c.n_kv * (double) TURBO_METAL_NEGLIGIBLE);
        }
    }
}

// Cells that hold no number, as another sequence may have left them: nobody sees them, and nobody is harmed.
static void check_hidden_nan(ggml_type type_v) {
    attention_case c;
    c.type_k = GGML_TYPE_TURBO4;
    c.type_v = type_v;
    c.gqa = 4;
    c.n_head_kv = 1;
    c.n_kv = 64;
    c.mask = mask_kind::holes;
    attention_data clean(c), data(c);
    int hidden = 0;
    for (int p = 0; p < c.n_kv; ++p) {
        if (data.mask[p] < -1e4f) {
            const ggml_fp16_t nan = 0x7e00; // a scale, or a value of f16
            memcpy(data.row(c, 1, 0, 0, p), &nan, sizeof nan);
            ++hidden;
        }
    }
    CHECK(hidden > 0);
    const turbo_metal_variant v = exact(c);
    const std::vector<float> want = run_attention(c, clean, v).values;
    const std::vector<float> got = run_attention(c, data, v).values;
    int wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) wrong += !(got[i] == want[i]);
    CHECK(wrong == 0);
}

TEST("attention: NaN in rows of V that nobody sees") {
    for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_Q8_0, GGML_TYPE_F16 })
        check_hidden_nan(type);
}

// Four keys at a time point at the query of one head of the group: the other three give them weights near e^-22.
TEST("attention: a row of V that one head needs is read for all") {
    attention_case c;
    c.type_k = GGML_TYPE_F16;
    c.type_v = GGML_TYPE_TURBO4;
    c.gqa = 4;
    c.n_head_kv = 1;
    c.n_kv = 64;
    attention_data data(c);
    for (int p = 0; p < c.n_kv; ++p) {
        for (int i = 0; i < c.dim_k; ++i) {
            ((ggml_fp16_t *) data.row(c, 0, 0, 0, p))[i] = ggml_fp32_to_fp16(2.0f * data.q[p / 4 % 4 * c.dim_k + i]);
        }
    }
    turbo_metal_variant v = variant_for(c);
    v.skip_v = true;
    check_attention(c, data, v, {}, c.n_kv * (double) TURBO_METAL_NEGLIGIBLE);
}

// Keys that point at the query or away from it: most weights are far below the limit.
TEST("attention: rows of V of no weight are not read") {
    attention_case c;
    c.type_k = GGML_TYPE_F16;
    c.type_v = GGML_TYPE_TURBO4;
    c.gqa = 1;
    c.n_head_kv = 1;
    c.n_kv = 64;
    attention_data data(c);
    for (int p = 0; p < c.n_kv; ++p) {
        for (int i = 0; i < c.dim_k; ++i) {
            ((ggml_fp16_t *) data.row(c, 0, 0, 0, p))[i] = ggml_fp32_to_fp16(data.q[i] * (p == 5 ? 2.0f : -2.0f));
        }
    }
    turbo_metal_variant v = variant_for(c);
    v.splits = v.simdgroups = 1;
    const auto v_bytes = [&](bool skip) {
        v.skip_v = skip;
        return run_attention(c, data, v).result.counters.buffers.at("v").read;
    };
    CHECK(v_bytes(true) < v_bytes(false) / 2);
}
