// The decode kernels of the SIMD level in effect (run.mjs runs every level) against attention in double precision.
// At the scalar level only our own path meets the bound: upstream's quantizes the query.

#include "attention-reference.h"
#include "../check.h"
#include "../samples.h"

#include "ggml-turbo.h"

#include <cmath>
#include <cstring>
#include <string>

namespace {

bool is_scalar() { return strcmp(ggml_turbo_simd_level(), "scalar") == 0; }

std::string describe(const attention_case & c) {
    return std::string(ggml_type_name(c.type_k)) + "/" + ggml_type_name(c.type_v) + " dim " + std::to_string(c.dim_k) +
           "/" + std::to_string(c.dim_v) + " heads " + std::to_string(c.n_head_kv) + "x" + std::to_string(c.gqa) +
           " n_kv " + std::to_string(c.n_kv) + " rows " + std::to_string(c.n_rows) + " streams " +
           std::to_string(c.n_stream) + " mask " + std::to_string(int(c.mask)) + " sinks " + std::to_string(c.sinks) +
           " softcap " + std::to_string(c.softcap) + " bias " + std::to_string(c.max_bias) + " by_head " +
           std::to_string(c.by_head) + " threads " + std::to_string(c.n_threads) + " bias rows " +
           std::to_string(c.bias_rows) + " scattered " + std::to_string(c.scattered) + " recent " +
           std::to_string(c.recent) + " seed " + std::to_string(c.seed);
}

// Squared error of the whole output in units of its expected variance. A logit's error is shared by all values of a head,
// so cases of few heads and positions scatter like a square of few Gaussians: 16 is four sigma.
void check_case(const attention_case & c) {
    attention_data data(c);
    const bool exact = is_scalar();
    const attention_result r = attention_compare(
        c, data, exact || (c.type_k == GGML_TYPE_F16 && !c.recent), exact || (c.type_v == GGML_TYPE_F16 && !c.recent));
    double error = 0.0;
    double expected = 0.0;
    for (size_t i = 0; i < r.want.size(); ++i) {
        const double e = r.got[i] - r.want[i];
        error += e * e;
        expected += r.variance[i];
    }
    check(error <= 16 * expected, __FILE__, __LINE__,
        "error " + std::to_string(error / expected) + " of its variance: " + describe(c));
}

// the first four are for heads of 128 values at least
const ggml_type TYPES_128[] = {
    GGML_TYPE_TURBO4,
    GGML_TYPE_TURBO3,
    GGML_TYPE_TURBO4_TCQ,
    GGML_TYPE_TURBO3_TCQ,
    GGML_TYPE_TURBO4_64,
    GGML_TYPE_TURBO3_64,
    GGML_TYPE_TURBO4_TCQ_64,
    GGML_TYPE_TURBO3_TCQ_64,
    GGML_TYPE_Q8_0,
    GGML_TYPE_Q5_0,
    GGML_TYPE_IQ4_NL,
    GGML_TYPE_Q4_0,
    GGML_TYPE_F16,
};
template <typename T, size_t N> T pick(const T (&list)[N], std::mt19937 & rng) { return list[rng() % N]; }

ggml_type pick_type(int head_dim, std::mt19937 & rng) {
    const size_t first = head_dim == 64 ? 4 : 0;
    return TYPES_128[first + rng() % (std::size(TYPES_128) - first)];
}

attention_case random_case(unsigned seed) {
    static const int dims[] = { 64, 128, 128, 256 };
    static const int groups[] = { 1, 2, 3, 4, 5, 8, 16 };
    static const int lengths[] = { 1, 2, 7, 31, 32, 33, 40, 64, 65, 95, 127, 200, 257 };
    static const int threads[] = { 1, 2, 2, 3, 5 };
    static const mask_kind masks[] = { mask_kind::none, mask_kind::causal, mask_kind::causal, mask_kind::holes,
        mask_kind::window, mask_kind::row_hidden };
    std::mt19937 rng(seed);

    attention_case c;
    c.seed = seed;
    c.dim_k = pick(dims, rng);
    c.dim_v = rng() % 4 == 0 ? pick(dims, rng) : c.dim_k;
    c.type_k = pick_type(c.dim_k, rng);
    c.type_v = pick_type(c.dim_v, rng);
    c.gqa = pick(groups, rng);
    c.n_head_kv = 1 + rng() % 3;
    c.n_kv = pick(lengths, rng);
    c.n_rows = std::min<int>(1 + (rng() % 3 == 0 ? rng() % 8 : 0), 32 / c.gqa);
    c.n_stream = rng() % 5 == 0 ? 2 : 1;
    c.by_head = rng() % 3 == 0;
    c.sinks = rng() % 4 == 0;
    c.softcap = rng() % 5 == 0 ? 4.0f : 0.0f;
    c.max_bias = rng() % 5 == 0 ? 8.0f : 0.0f;
    c.mask = pick(masks, rng);
    c.n_threads = pick(threads, rng);
    if (c.n_rows > c.n_kv) { c.n_rows = 1; }
    c.bias_rows = seed % 3 == 0 ? 1 + int(rng() % 70) : 0;
    c.scattered = rng() % 2;
    return c;
}

// The scalar level leaves upstream's types to upstream.
bool ours(const attention_case & c) {
    return c.bias_rows > 0 || !is_scalar() || ggml_turbo_is_turbo(c.type_k) || ggml_turbo_is_turbo(c.type_v);
}

} // namespace

TEST("decode attention: random shapes") {
    int n = 0;
    for (unsigned seed = 1; n < 200; ++seed) {
        const attention_case c = random_case(seed);
        if (ours(c)) {
            check_case(c);
            ++n;
        }
    }
}

TEST("decode attention: every pair of types at a cache's shape") {
    for (const ggml_type k : TYPES_128) {
        for (const ggml_type v : TYPES_128) {
            attention_case c;
            c.type_k = k;
            c.type_v = v;
            c.n_head_kv = 4;
            c.n_kv = 200;
            c.n_threads = 2;
            if (ours(c)) { check_case(c); }
        }
    }
}

TEST("attention reads what is held of a tile in a finer type in place of the cache") {
    for (unsigned seed = 1; seed <= 120; ++seed) {
        attention_case c = random_case(seed);
        c.recent = true;
        c.n_stream = 1;
        if (seed % 4 == 0) { c.n_rows = std::min(c.n_kv, 40); } // more than decode takes
        const bool turbo = ggml_turbo_is_turbo(c.type_k) || ggml_turbo_is_turbo(c.type_v);
        if (turbo) { check_case(c); }
    }
}

TEST("attention does not read the cache of a tile that is held in a finer type") {
    for (const int n_rows : { 1, 40 }) {
        attention_case c;
        c.type_k = c.type_v = GGML_TYPE_TURBO3;
        c.n_kv = 300;
        c.n_rows = n_rows;
        c.recent = true;
        attention_data data(c);
        const std::vector<float> before = attention_run(c, data);
        for (int p = 0; p < c.n_kv; ++p) {
            if (data.slots[p / 32] < 0) { continue; }
            for (int t = 0; t < 2; ++t) { memset(data.row(c, t, 0, 0, p), 0xff, ggml_row_size(c.type_k, c.dim_k)); }
        }
        CHECK(attention_run(c, data) == before);
        // and what it holds, it reads
        data.recent[3] ^= 0x40;
        CHECK(attention_run(c, data) != before);
    }
}

TEST("decode attention: sinks and a bias together, with capped scores and without") {
    for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_TURBO4_64, GGML_TYPE_F16 }) {
        for (const float softcap : { 0.0f, 4.0f }) {
            for (const int n_rows : { 1, 4 }) {
                attention_case c;
                c.type_k = c.type_v = type;
                c.dim_k = c.dim_v = type == GGML_TYPE_TURBO4_64 ? 64 : 128;
                c.gqa = 8;
                c.n_kv = 300;
                c.n_rows = n_rows;
                c.sinks = true;
                c.softcap = softcap;
                c.bias_rows = c.dim_k + 1;
                c.scattered = n_rows == 1;
                c.n_threads = 2;
                check_case(c);
            }
        }
    }
}

TEST("decode attention: any number of threads, the same bits") {
    for (const int n_kv : { 20, 300, 3000 }) {
        attention_case c;
        c.type_k = c.type_v = GGML_TYPE_TURBO4;
        c.n_kv = n_kv;
        c.bias_rows = n_kv == 20 ? 0 : 33;
        c.recent = n_kv == 3000;
        attention_data data(c);
        const std::vector<float> one = attention_run(c, data);
        for (c.n_threads = 2; c.n_threads <= 7; ++c.n_threads) { CHECK(attention_run(c, data) == one); }
    }
}

TEST("decode attention: a damaged position shows where it is visible only") {
    for (const ggml_type type : TURBO_TYPES) {
        for (int t = 0; t < 2; ++t) {
            for (const int position : { 0, 9, 40 }) {
                attention_case c;
                c.type_k = c.type_v = type;
                c.dim_k = c.dim_v = ggml_blck_size(type);
                c.n_kv = 41;
                attention_data data(c);
                const uint16_t nan = 0x7e00;
                memcpy(data.row(c, t, 0, 0, position), &nan, sizeof(nan));

                const std::vector<float> shown = attention_run(c, data);
                CHECK(std::isnan(shown[0]) && std::isnan(shown[c.dim_v * c.gqa - 1]));
                CHECK(!std::isnan(shown[c.dim_v * c.gqa])); // the next KV head's

                data.mask[position] = -INFINITY;
                for (const float value : attention_run(c, data)) { CHECK(!std::isnan(value)); }
            }
        }
    }
}
