// Counts of the turbo decode kernels beside upstream's q8_0 kernel (upstream-q8_0.cpp), for docs/metal.md.

#include "../../native/check.h"
#include "dispatch.h"
#include "turbo-attention.h"

#include "ggml-turbo.h"
#include "turbo-metal-impl.h"

namespace {

// As upstream-q8_0.cpp counts: 8 heads on 2, 256 positions.
attention_case counted(ggml_type type, int gqa) {
    attention_case c;
    c.type_k = c.type_v = type;
    c.n_head_kv = 2;
    c.gqa = gqa;
    c.n_kv = 256;
    return c;
}

msl_counters count(const attention_case & c, int table) {
    attention_data data(c);
    turbo_metal_variant v = variant_for(c);
    v.table = table;
    return run_attention(c, data, v).result.counters;
}

// Bytes of K and V that upstream's q8_0 kernel reads: the rows of 34 bytes per 32 values for every query head.
double q8_0_bytes(const attention_case & c) { return 2.0 * c.n_head_kv * c.gqa * c.n_kv * c.dim_k / 32 * 34; }

double kv_bytes(const msl_counters & c, uint64_t msl_traffic::* what) {
    return double(c.buffers.at("k").*what + c.buffers.at("v").*what);
}

// And as its instructions ask for them: each of 32 lanes loads four values and the scale of their block.
double q8_0_requested(const attention_case & c) { return 2.0 * c.n_head_kv * c.gqa * c.n_kv * c.dim_k / 4 * (4 + 2); }

} // namespace

TEST("attention counts: at most 0.55 (turbo4) and 0.45 (turbo3) of q8_0's bytes, for one query head as for eight") {
    for (const int gqa : { 1, 4, 8 }) {
        const attention_case c4 = counted(GGML_TYPE_TURBO4, gqa);
        const attention_case c3 = counted(GGML_TYPE_TURBO3, gqa);
        const msl_counters t4 = count(c4, TURBO_METAL_TABLE_SIGNED);
        const msl_counters t3 = count(c3, TURBO_METAL_TABLE_SIGNED);
        CHECK_LE(kv_bytes(t4, &msl_traffic::unique), 0.55 * q8_0_bytes(c4) / gqa);
        CHECK_LE(kv_bytes(t3, &msl_traffic::unique), 0.45 * q8_0_bytes(c3) / gqa);
        CHECK_LE(kv_bytes(t4, &msl_traffic::read), 0.55 * q8_0_requested(c4) / gqa);
        CHECK_LE(kv_bytes(t3, &msl_traffic::read), 0.45 * q8_0_requested(c3) / gqa);
    }
}

// One look into the tables per value of K and V, however many heads share it.
TEST("attention counts: one expansion for all heads of a group") {
    for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 }) {
        for (const int gqa : { 1, 2, 4, 5, 8, 16 }) {
            attention_case c = counted(type, gqa);
            c.mask = mask_kind::none;
            attention_data data(c);
            turbo_metal_variant v = variant_for(c);
            v.queries = std::max(v.queries, gqa == 16 ? 16 : 0); // the table takes two of 8
            v.skip_v = false;
            const msl_counters n = run_attention(c, data, v).result.counters;
            CHECK(n.tables.loads == 2u * c.n_head_kv * c.n_kv * c.dim_k);
            CHECK(n.buffers.at("k").unique == c.n_head_kv * c.n_kv * ggml_row_size(type, c.dim_k));
            CHECK(n.buffers.at("v").unique == c.n_head_kv * c.n_kv * ggml_row_size(type, c.dim_v));
        }
    }
}

// The rows beside upstream's: as many positions, one KV head; partial sums and their merge included.
TEST("attention counts: rows for docs/metal.md") {
    for (const int dim : { 64, 128, 256 }) {
        for (const bool is_4bit : { true, false }) {
            for (const int gqa : { 1, 4, 8 }) {
                attention_case c;
                c.type_k = c.type_v = dim == 64 ? (is_4bit ? GGML_TYPE_TURBO4_64 : GGML_TYPE_TURBO3_64)
                                                : (is_4bit ? GGML_TYPE_TURBO4 : GGML_TYPE_TURBO3);
                c.dim_k = c.dim_v = dim;
                c.n_head_kv = 1;
                c.gqa = gqa;
                c.n_kv = 2048;
                c.mask = mask_kind::none;
                attention_data data(c);
                turbo_metal_variant v = variant_for(c);
                v.skip_v = false;
                print_counts(std::string(is_4bit ? "turbo4" : "turbo3") + ", dim " + std::to_string(dim) + ", " +
                                 std::to_string(gqa) + (gqa == 1 ? " head" : " heads") + " per KV head",
                    run_attention(c, data, v).result.counters, c.n_kv);
            }
        }
    }
}

TEST("attention: threadgroup memory of every variant fits 32 KB") {
    for (const int dim : { 64, 128, 256 }) {
        for (int gqa = 1; gqa <= 16; ++gqa) {
            attention_case c = counted(dim == 64 ? GGML_TYPE_TURBO4_64 : GGML_TYPE_TURBO4, gqa);
            c.dim_k = c.dim_v = dim;
            const turbo_metal_variant v = variant_for(c);
            CHECK_LE(TURBO_METAL_SHARED_BYTES(dim, v.queries) + v.simdgroups * TURBO_METAL_GROUP_BYTES(dim, v.queries),
                32768);
            CHECK(turbo_metal_has_kernel(dim, dim, v.queries));
        }
    }
}
