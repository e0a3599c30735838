#include "self-test-sample.h"

#include "self-test-reference.h"

#include "ggml-turbo.h"

#include <cmath>
#include <cstring>
#include <memory>

namespace {

// The GPU's f32 rounds each of some hundred products and sums (2^-24 each, squared and summed: 1e-11); fast exponentials and rows
// of V left out at weights below 1e-6 of the largest come to 1e-8 at most; f16 results to 6e-8. A position too much or too
// little of the 421 here is 1e-4 and more.
const double BOUND = 1e-6;

// Another of two scales that are equally good is no fault of set_rows.
const double QUANTISER_SLACK = 1.001;

// Fourteen tiles, the last one in part: for eight splits two each, which makes two parts to merge of four SIMD-groups, one of
// them without a tile.
const int N_KV = 421;
const int HIDDEN_TILE = 2;
const int N_HEAD_KV = 2;
const int COPY_ROWS = 5;

// The same everywhere, unlike <random>'s distributions: four uniform numbers summed, variance 1.
class noise {
public:
    explicit noise(uint32_t seed) : state(seed * 2654435761u + 1) {}
    float next() {
        float sum = 0.0f;
        for (int i = 0; i < 4; ++i) {
            state = state * 1664525u + 1013904223u;
            sum += (float) (state >> 8) / (1 << 24) - 0.5f;
        }
        return sum * std::sqrt(3.0f);
    }
    std::vector<float> values(size_t n) {
        std::vector<float> x(n);
        for (float & value : x) { value = next(); }
        return x;
    }

private:
    uint32_t state;
};

turbo_metal_sample empty_sample() {
    turbo_metal_sample s = {};
    s.ctx.reset(ggml_init({ 16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true }));
    s.bound = BOUND;
    return s;
}

std::vector<uint8_t> encoded(ggml_type type, const std::vector<float> & x) {
    std::vector<uint8_t> bytes(ggml_row_size(type, x.size()));
    if (type == GGML_TYPE_F32) {
        memcpy(bytes.data(), x.data(), bytes.size());
    } else {
        ggml_get_type_traits(type)->from_float_ref(x.data(), bytes.data(), x.size());
    }
    return bytes;
}

template <class T> std::vector<uint8_t> bytes_of(const std::vector<T> & values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

// Sum of squared differences, relative to the squares of want. NaN when a value is.
double relative_error(const std::vector<float> & want, const std::vector<float> & got) {
    double error = 0.0, power = 0.0;
    for (size_t i = 0; i < want.size(); ++i) {
        error += ((double) got[i] - want[i]) * ((double) got[i] - want[i]);
        power += (double) want[i] * want[i];
    }
    return error / power;
}

// Adds a tensor with values in its own format; returns them as the format holds them.
ggml_tensor * add(turbo_metal_sample & s, ggml_tensor * t, const std::vector<float> & x) {
    s.inputs.push_back({ t, encoded(t->type, x) });
    return t;
}

ggml_tensor * indices(turbo_metal_sample & s, ggml_type type, int n) {
    ggml_tensor * t = ggml_new_tensor_1d(s.ctx.get(), type, n);
    std::vector<int32_t> reversed;
    for (int i = n - 1; i >= 0; --i) { reversed.push_back(i); }
    s.inputs.push_back({ t, type == GGML_TYPE_I32 ? bytes_of(reversed)
                                                  : bytes_of(std::vector<int64_t>(reversed.begin(), reversed.end())) });
    return t;
}

std::vector<float> rows_reversed(const std::vector<float> & x, int n_rows) {
    const size_t row = x.size() / n_rows;
    std::vector<float> y;
    for (int r = n_rows - 1; r >= 0; --r) { y.insert(y.end(), x.begin() + r * row, x.begin() + (r + 1) * row); }
    return y;
}

// Formats of one side of a cache with these head dims, turbo first.
std::vector<ggml_type> turbo_types(int dim) {
    if (dim == 64) { return { GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64 }; }
    return dim % 128 == 0 ? std::vector<ggml_type>{ GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 } : std::vector<ggml_type>{};
}

std::vector<std::pair<ggml_type, ggml_type>> type_pairs(int dim_k, int dim_v) {
    const std::vector<ggml_type> k = turbo_types(dim_k);
    const std::vector<ggml_type> v = turbo_types(dim_v);
    std::vector<std::pair<ggml_type, ggml_type>> pairs;
    if (!k.empty() && !v.empty()) { pairs = { { k[0], v[0] }, { k[1], v[1] } }; }
    if (!v.empty()) {
        pairs.push_back({ GGML_TYPE_Q8_0, v[0] });
        pairs.push_back({ GGML_TYPE_F16, v[1] });
    }
    if (!k.empty()) {
        pairs.push_back({ k[0], GGML_TYPE_Q8_0 });
        pairs.push_back({ k[1], GGML_TYPE_F16 });
    }
    return pairs;
}

// A side of the cache as llama.cpp keeps it: position by position, the heads of one after the other.
ggml_tensor * cache_side(turbo_metal_sample & s, ggml_type type, int dim, noise & random) {
    ggml_tensor * t = ggml_new_tensor_3d(s.ctx.get(), type, dim, N_HEAD_KV, N_KV);
    return ggml_permute(s.ctx.get(), add(s, t, random.values(ggml_nelements(t))), 0, 2, 1, 3);
}

// A whole tile is hidden, and every ninth position, and from each row what comes after it; the others bear the bias of ALiBi.
std::vector<float> mask_values(int n_rows, bool alibi) {
    std::vector<float> m;
    for (int r = 0; r < n_rows; ++r) {
        for (int p = 0; p < N_KV; ++p) {
            const bool hidden = p / 32 == HIDDEN_TILE || p % 9 == 4 || p > N_KV - n_rows + r;
            m.push_back(hidden ? -INFINITY : alibi ? (p - N_KV) / 8.0f : 0.0f);
        }
    }
    return m;
}

turbo_metal_sample attention_sample(
    ggml_type type_k, ggml_type type_v, int dim_k, int dim_v, int gqa, bool everything) {
    turbo_metal_sample s = empty_sample();
    ggml_context * ctx = s.ctx.get();
    noise random(dim_k + gqa);
    const int n_head = N_HEAD_KV * gqa;
    const int n_rows = everything ? 2 : 1;
    ggml_tensor * q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, dim_k, n_rows, n_head);
    add(s, q, random.values(ggml_nelements(q)));
    ggml_tensor * k = cache_side(s, type_k, dim_k, random);
    ggml_tensor * v = cache_side(s, type_v, dim_v, random);
    ggml_tensor * mask = add(s, ggml_new_tensor_2d(ctx, GGML_TYPE_F16, N_KV, n_rows), mask_values(n_rows, everything));
    s.op = ggml_flash_attn_ext(
        ctx, q, k, v, mask, 1.0f / std::sqrt((float) dim_k), everything ? 8.0f : 0.0f, everything ? 4.0f : 0.0f);
    if (everything) {
        ggml_flash_attn_ext_add_sinks(
            s.op, add(s, ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n_head), random.values(n_head)));
    }
    s.want = turbo_metal_reference_attention(s);
    s.label = std::string("K ") + ggml_type_name(type_k) + ", V " + ggml_type_name(type_v) +
              (everything ? ", all options" : "");
    return s;
}

} // namespace

std::string turbo_metal_sample::compare(const std::vector<uint8_t> & result) const {
    const std::vector<float> got = turbo_metal_decode(op->type, result);
    if (got.size() != want.size()) { return "a result of " + std::to_string(got.size()) + " values"; }
    const double error = relative_error(want, got);
    if (error <= bound) { // false for NaN
        return "";
    }
    return "squared error " + std::to_string(error) + " of the values";
}

turbo_metal_sample turbo_metal_copy_sample(turbo_metal_copy what, ggml_type turbo, ggml_type other) {
    turbo_metal_sample s = empty_sample();
    ggml_context * ctx = s.ctx.get();
    const int dim = 3 * ggml_blck_size(turbo); // the last SIMD-group of a threadgroup has nothing to do
    const std::vector<float> x = noise(turbo).values((size_t) dim * COPY_ROWS);

    ggml_tensor * from =
        add(s, ggml_new_tensor_2d(ctx, what == TURBO_METAL_COPY_TO ? turbo : other, dim, COPY_ROWS), x);
    s.want = turbo_metal_decode(from->type, s.inputs[0].bytes);
    s.label =
        std::string(ggml_type_name(from->type)) + " to " + ggml_type_name(what == TURBO_METAL_COPY_TO ? other : turbo);
    if (what != TURBO_METAL_COPY_TO) {
        s.bound = QUANTISER_SLACK * relative_error(s.want, turbo_metal_decode(turbo, encoded(turbo, s.want)));
    }
    if (what == TURBO_METAL_SET_ROWS) {
        ggml_tensor * to = ggml_new_tensor_2d(ctx, turbo, dim, COPY_ROWS);
        ggml_tensor * row = indices(s, other == GGML_TYPE_F32 ? GGML_TYPE_I64 : GGML_TYPE_I32, COPY_ROWS);
        s.inputs.push_back({ to, {} });
        s.op = ggml_set_rows(ctx, to, from, row);
        s.want = rows_reversed(s.want, COPY_ROWS);
    } else {
        s.op = ggml_cast(ctx, from, what == TURBO_METAL_COPY_TO ? other : turbo);
    }
    return s;
}

std::vector<turbo_metal_sample> turbo_metal_attention_samples(int dim_k, int dim_v, int queries) {
    const int gqa = queries + 1; // one group that is full and one that is not
    std::vector<turbo_metal_sample> samples;
    for (const auto & pair : type_pairs(dim_k, dim_v)) {
        samples.push_back(attention_sample(pair.first, pair.second, dim_k, dim_v, gqa, false));
    }
    const auto first = type_pairs(dim_k, dim_v).front();
    samples.push_back(attention_sample(first.first, first.second, dim_k, dim_v, gqa, true));
    return samples;
}
