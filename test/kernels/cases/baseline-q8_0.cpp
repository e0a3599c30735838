// Upstream's unmodified decode attention for a q8_0 cache, head_dim 128: against a double-precision reference, and counted, as the
// baseline that the turbo kernels are compared with (docs/metal.md); their counts beside it. Argument building as in
// ggml-metal-ops.cpp.

#include "../../native/check.h"
#include "dispatch.h"

#include "ggml-metal-impl.h"
#include "ggml-turbo.h"
#include "turbo-metal-impl.h"

#include <cmath>
#include <random>

namespace {

// 2 KV heads, 256 positions.
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

namespace {

const int BLOCK = 32;
const int BYTES = 34; // of a block: a half and 32 int8
const int N_COLS = OP_FLASH_ATTN_EXT_VEC_NCPSG;

struct shape {
    int dim, n_kv, n_head_kv, gqa, nsg, nwg;
    int n_head() const { return n_head_kv * gqa; }
    int row() const { return dim / BLOCK * BYTES; } // bytes of a cache row
};

struct problem {
    std::vector<float> q; // [head][dim]
    std::vector<uint8_t> k, v; // [head_kv][n_kv] rows
    std::vector<_Float16> mask; // [n_kv]: some positions hidden
};

std::vector<uint8_t> quantized(const shape & s, std::mt19937 & random) {
    std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
    std::vector<uint8_t> rows((size_t) s.n_head_kv * s.n_kv * s.row());
    for (size_t block = 0; block < rows.size(); block += BYTES) {
        float x[BLOCK], largest = 0.0f;
        for (float & value : x) largest = std::fmax(largest, std::fabs(value = uniform(random)));
        const _Float16 d = (_Float16) (largest / 127.0f);
        memcpy(&rows[block], &d, 2);
        for (int i = 0; i < BLOCK; ++i)
            rows[block + 2 + i] = (uint8_t) (int8_t) std::lround(x[i] / (float) d > 127.0f ? 127.0f : x[i] / (float) d);
    }
    return rows;
}

double value_of(const shape & s, const std::vector<uint8_t> & rows, size_t row, int i) {
    const uint8_t * block = &rows[row * s.row() + i / BLOCK * BYTES];
    _Float16 d;
    memcpy(&d, block, 2);
    return (double) d * (int8_t) block[2 + i % BLOCK];
}

problem make_problem(const shape & s) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    problem p;
    p.q.resize((size_t) s.n_head() * s.dim);
    for (float & x : p.q) x = normal(random);
    p.k = quantized(s, random);
    p.v = quantized(s, random);
    p.mask.resize(s.n_kv);
    for (int i = 0; i < s.n_kv; ++i) p.mask[i] = i % 7 == 3 ? (_Float16) -INFINITY : (_Float16) 0.0f;
    return p;
}

std::vector<double> reference(const shape & s, const problem & p) {
    std::vector<double> out((size_t) s.n_head() * s.dim);
    for (int head = 0; head < s.n_head(); ++head) {
        double sum = 0.0;
        for (int j = 0; j < s.n_kv; ++j) {
            const size_t row = (size_t) head / s.gqa * s.n_kv + j;
            double score = 0.0;
            for (int i = 0; i < s.dim; ++i) score += (double) p.q[head * s.dim + i] * value_of(s, p.k, row, i);
            const double weight = std::exp(score / std::sqrt((double) s.dim) + (double) p.mask[j]);
            sum += weight;
            for (int i = 0; i < s.dim; ++i) out[head * s.dim + i] += weight * value_of(s, p.v, row, i);
        }
        for (int i = 0; i < s.dim; ++i) out[head * s.dim + i] /= sum;
    }
    return out;
}

ggml_metal_kargs_flash_attn_ext_vec args_of(const shape & s) {
    const uint64_t nb11 = s.row(), nb12 = nb11 * s.n_kv, nb13 = nb12 * s.n_head_kv;
    const int n_head = s.n_head();
    ggml_metal_kargs_flash_attn_ext_vec a = {};
    a.ne01 = 1;
    a.ne02 = n_head;
    a.ne03 = 1;
    a.nb01 = s.dim * 4;
    a.nb02 = s.dim * 4;
    a.nb03 = (uint64_t) s.dim * 4 * n_head;
    a.ne11 = s.n_kv;
    a.ne_12_2 = s.n_head_kv;
    a.ne_12_3 = 1;
    a.ns10 = a.ns20 = s.dim / BLOCK;
    a.nb11 = a.nb21 = nb11;
    a.nb12 = a.nb22 = nb12;
    a.nb13 = a.nb23 = nb13;
    a.ne31 = a.ne32 = a.ne33 = 1;
    a.nb31 = a.nb32 = a.nb33 = (uint64_t) 2 * s.n_kv;
    a.ne1 = n_head;
    a.ne2 = 1;
    a.ne3 = 1;
    a.scale = 1.0f / std::sqrt((float) s.dim);
    return a;
}

int padded(int dim) { return (dim + 127) / 128 * 128; }

// counters: of both kernels; reports: of the first
struct run_output {
    msl_counters counters;
    std::string reports;
    std::vector<float> values;
};

run_output run(const shape & s, const problem & p, const msl_schedule & schedule) {
    const int n_head = s.n_head();
    msl_buffer q("q", p.q), k("k", p.k), v("v", p.v), mask("mask", p.mask), unused("unused", 16);
    msl_buffer out("out", p.q.size() * sizeof(float)), parts("parts", n_head * (s.dim + 2) * s.nwg * sizeof(float));
    msl_buffer & target = s.nwg == 1 ? out : parts;

    msl_dispatch d;
    d.module = "upstream-fa";
    d.kernel = "kernel_flash_attn_ext_vec_q8_0_dk" + std::to_string(s.dim) + "_dv" + std::to_string(s.dim);
    const int fc = FC_FLASH_ATTN_EXT_VEC;
    d.constants = { constant_bool(fc, true), constant_bool(fc + 1, false), constant_bool(fc + 2, false),
        constant_bool(fc + 3, false), constant_bool(fc + 4, false), constant_bool(fc + 5, false),
        constant_i32(fc + 20, s.dim / BLOCK), constant_i32(fc + 21, s.dim / BLOCK), constant_i32(fc + 22, s.nsg),
        constant_i32(fc + 23, s.nwg) };
    d.bindings = { bind_args(0, args_of(s)), { 1, &q }, { 2, &k }, { 3, &v }, { 4, &mask }, { 5, &unused },
        { 6, &unused }, { 7, &target }, { 8, &unused } };
    d.grid = { 1, (uint32_t) n_head, (uint32_t) s.nwg };
    d.threads = { 32, (uint32_t) s.nsg };
    d.threadgroup_memory = (padded(s.dim) + 4 * N_COLS + 2 * padded(s.dim)) * s.nsg * 2;
    msl_result attention = msl_run(d, schedule);

    if (s.nwg > 1) {
        msl_dispatch merge;
        merge.module = d.module;
        merge.kernel = "kernel_flash_attn_ext_vec_reduce";
        merge.constants = { constant_i32(FC_FLASH_ATTN_EXT_VEC_REDUCE, s.dim),
            constant_i32(FC_FLASH_ATTN_EXT_VEC_REDUCE + 1, s.nwg) };
        merge.bindings = { bind_args(0, ggml_metal_kargs_flash_attn_ext_vec_reduce{ n_head }), { 1, &parts },
            { 2, &out } };
        merge.grid = { (uint32_t) n_head };
        merge.threads = { (uint32_t) (32 * s.nwg) };
        const msl_result merged = msl_run(merge, schedule);
        CHECK_STR(merged.text(), "");
        attention.counters += merged.counters;
    }
    return { attention.counters, attention.text(), out.to<float>() };
}

double nmse(const std::vector<float> & got, const std::vector<double> & want) {
    double error = 0.0, power = 0.0;
    for (size_t i = 0; i < want.size(); ++i) {
        error += (got[i] - want[i]) * (got[i] - want[i]);
        power += want[i] * want[i];
    }
    return error / power;
}

} // namespace

// Queries, K and V are halves in threadgroup memory and registers: each product has a relative error near 2^-11, and errors of 128
// terms average out. 1e-6 is five times what is seen.
static const double NMSE_BOUND = 1e-6;

TEST("any math: upstream q8_0 attention is right when lanes are in lockstep") {
    for (const shape & s :
        { shape{ 128, 256, 1, 1, 1, 1 }, shape{ 128, 160, 2, 3, 2, 1 }, shape{ 128, 1024, 2, 1, 1, 32 } }) {
        const problem p = make_problem(s);
        CHECK_LE(nmse(run(s, p, { msl_schedule::lockstep }).values, reference(s, p)), NMSE_BOUND);
    }
}

// The kernel relies on lanes in lockstep: lane 0 stores the sums into memory that other lanes still read, with no simdgroup_barrier
// between. A GPU of today runs lanes so; the specification does not say it. Ours must not do this.
TEST("upstream q8_0 attention: its known race is reported") {
    const shape s = { 128, 256, 1, 1, 1, 1 };
    const std::string text = run(s, make_problem(s), { msl_schedule::lockstep }).reports;
    CHECK(text.find("race: write after read inside a simdgroup") != std::string::npos);
    CHECK(text.find("fa.metal:1728") != std::string::npos);
}

// At the depth where upstream launches 32 threadgroups per head with one simdgroup each.
TEST("upstream q8_0 attention: counts") {
    for (int dim : { 64, 128, 256 }) {
        for (int gqa : { 1, 4, 8 }) {
            const shape s = { dim, 2048, 1, gqa, 1, 32 };
            const problem p = make_problem(s);
            const run_output o = run(s, p, { msl_schedule::lockstep });
            CHECK_LE(nmse(o.values, reference(s, p)), NMSE_BOUND);
            // every query head reads the whole of its K head
            CHECK(o.counters.buffers.at("k").unique == (uint64_t) gqa * s.n_kv * s.row());
            print_counts("upstream q8_0, dim " + std::to_string(dim) + ", " + std::to_string(gqa) +
                             (gqa == 1 ? " head" : " heads") + " per KV head",
                o.counters, s.n_kv * s.n_head_kv);
        }
    }
}
