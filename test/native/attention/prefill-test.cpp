// Prefill attention against a double-precision reference: random shapes, masks and types.

#include "../check.h"
#include "bias-data.h"
#include "../samples.h"

#include "ggml-cpu.h"
#include "ggml.h"
#include "ggml-turbo.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace {

enum class mask_kind { none, causal, window, random, rows_hidden, COUNT };

struct shape {
    ggml_type type_k;
    ggml_type type_v;
    int dk;
    int dv;
    int n_kv;
    int n_rows;
    int n_head_kv;
    int gqa;
    int n_stream;
    bool interleaved; // K and V as the cache holds them: all heads of a position side by side, with room behind
    mask_kind mask;
    int mask_n_head;
    int mask_n_stream;
    bool sinks;
    float max_bias;
    float softcap;
    int bias_rows; // values of z; 0: no bias
    bool scattered; // blocks of the bias
    unsigned seed;

    int n_head() const { return n_head_kv * gqa; }

    std::string text() const {
        char s[256];
        snprintf(s, sizeof(s),
            "%s/%s dk %d dv %d kv %d rows %d heads %dx%d streams %d interleaved %d mask %d [%d %d] sinks %d bias %g "
            "cap %g bias rows %d scattered %d seed %u",
            ggml_type_name(type_k), ggml_type_name(type_v), dk, dv, n_kv, n_rows, n_head_kv, gqa, n_stream, interleaved,
            int(mask), mask_n_head, mask_n_stream, sinks, max_bias, softcap, bias_rows, scattered, seed);
        return s;
    }
};

// The operation as a graph, with its data decoded for the reference.
struct operation {
    std::unique_ptr<ggml_context, void (*)(ggml_context *)> ctx = { nullptr, ggml_free };
    shape sh;
    float scale;
    ggml_tensor * q;
    ggml_tensor * k;
    ggml_tensor * v;
    ggml_tensor * mask = nullptr;
    ggml_tensor * sinks = nullptr;
    std::unique_ptr<bias_data> bias;
    ggml_tensor * out;
    std::vector<float> k_values; // [stream][head][position][dk]
    std::vector<float> v_values;

    const float * k_row(int stream, int head, int p) const { return row(k_values, sh.dk, stream, head, p); }
    const float * v_row(int stream, int head, int p) const { return row(v_values, sh.dv, stream, head, p); }

    const float * row(const std::vector<float> & values, int width, int stream, int head, int p) const {
        return values.data() + (((size_t) stream * sh.n_head_kv + head) * sh.n_kv + p) * width;
    }

    float mask_at(int stream, int head, int i, int p) const {
        if (mask == nullptr) { return 0.0f; }
        const char * at = (const char *) mask->data + p * mask->nb[0] + i * mask->nb[1] +
                          head % mask->ne[2] * mask->nb[2] + stream % mask->ne[3] * mask->nb[3];
        return ggml_fp16_to_fp32(*(const ggml_fp16_t *) at);
    }
};

// A side of the cache with random values; `values` is what it holds, decoded.
ggml_tensor * make_side(
    ggml_context * ctx, const shape & sh, ggml_type type, int width, unsigned seed, std::vector<float> & values) {
    const int room = sh.interleaved ? sh.n_kv + 7 : sh.n_kv;
    ggml_tensor * all = sh.interleaved ? ggml_new_tensor_4d(ctx, type, width, sh.n_head_kv, room, sh.n_stream)
                                       : ggml_new_tensor_4d(ctx, type, width, room, sh.n_head_kv, sh.n_stream);
    const std::vector<float> x = gaussian(ggml_nelements(all), 1.0f, seed);
    quantize_row(type, x, all->data);

    ggml_tensor * side = sh.interleaved ? ggml_view_4d(ctx, all, width, sh.n_kv, sh.n_head_kv, sh.n_stream, all->nb[2],
                                              all->nb[1], all->nb[3], 0)
                                        : all;
    for (int s = 0; s < sh.n_stream; ++s) {
        for (int h = 0; h < sh.n_head_kv; ++h) {
            for (int p = 0; p < sh.n_kv; ++p) {
                const char * row = (const char *) side->data + p * side->nb[1] + h * side->nb[2] + s * side->nb[3];
                const size_t at = values.size();
                values.resize(at + width);
                if (type == GGML_TYPE_F32) {
                    memcpy(values.data() + at, row, width * sizeof(float));
                } else {
                    ggml_get_type_traits(type)->to_float(row, values.data() + at, width);
                }
            }
        }
    }
    return side;
}

bool hidden(mask_kind kind, int i, int p, int n_rows, int n_kv, std::mt19937 & rng) {
    const int now = n_kv - n_rows + i; // position of row i
    switch (kind) {
        case mask_kind::causal: return p > now;
        case mask_kind::window: return p > now || p + 50 < now;
        case mask_kind::random: return rng() % 3 == 0;
        case mask_kind::rows_hidden: return i % 5 == 2 || p > now + 40 || rng() % 8 == 0;
        default: return false;
    }
}

ggml_tensor * make_mask(ggml_context * ctx, const shape & sh) {
    std::mt19937 rng(sh.seed);
    ggml_tensor * mask = ggml_new_tensor_4d(ctx, GGML_TYPE_F16, sh.n_kv, sh.n_rows, sh.mask_n_head, sh.mask_n_stream);
    ggml_fp16_t * m = (ggml_fp16_t *) mask->data;
    for (int plane = 0; plane < sh.mask_n_head * sh.mask_n_stream; ++plane) {
        for (int i = 0; i < sh.n_rows; ++i) {
            for (int p = 0; p < sh.n_kv; ++p) {
                const float seen = sh.max_bias > 0.0f             ? -std::fabs(float(p - i))
                                   : sh.mask == mask_kind::random ? rng() % 100 / 50.0f - 1.0f
                                                                  : 0.0f;
                *m++ = ggml_fp32_to_fp16(hidden(sh.mask, i, p, sh.n_rows, sh.n_kv, rng) ? -INFINITY : seen);
            }
        }
    }
    return mask;
}

operation make_operation(const shape & sh) {
    operation op;
    op.sh = sh;
    op.scale = 1.0f / std::sqrt(float(sh.dk));
    op.ctx.reset(ggml_init({ size_t(64) << 20, nullptr, false }));
    ggml_context * ctx = op.ctx.get();

    op.q = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, sh.dk, sh.n_rows, sh.n_head(), sh.n_stream);
    const std::vector<float> q = gaussian(ggml_nelements(op.q), 2.0f, sh.seed + 1);
    memcpy(op.q->data, q.data(), ggml_nbytes(op.q));
    op.k = make_side(ctx, sh, sh.type_k, sh.dk, sh.seed + 2, op.k_values);
    op.v = make_side(ctx, sh, sh.type_v, sh.dv, sh.seed + 3, op.v_values);
    if (sh.mask != mask_kind::none) { op.mask = make_mask(ctx, sh); }
    op.out = ggml_flash_attn_ext(ctx, op.q, op.k, op.v, op.mask, op.scale, sh.max_bias, sh.softcap);
    if (sh.sinks) {
        op.sinks = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, sh.n_head());
        const std::vector<float> s = gaussian(sh.n_head(), 2.0f, sh.seed + 4);
        memcpy(op.sinks->data, s.data(), ggml_nbytes(op.sinks));
        ggml_flash_attn_ext_add_sinks(op.out, op.sinks);
    }
    if (sh.bias_rows > 0) {
        op.bias = std::make_unique<bias_data>(
            sh.n_stream, sh.n_rows, sh.n_head(), sh.n_kv, sh.bias_rows, sh.scattered, sh.seed);
        op.bias->attach(ctx, op.out);
    }
    return op;
}

std::vector<float> compute(const operation & op, int n_threads) {
    ggml_cgraph * graph = ggml_new_graph(op.ctx.get());
    ggml_build_forward_expand(graph, op.out);
    CHECK(ggml_graph_compute_with_ctx(op.ctx.get(), graph, n_threads) == GGML_STATUS_SUCCESS);
    const float * y = (const float *) op.out->data;
    return std::vector<float>(y, y + ggml_nelements(op.out));
}

double slope_of(const shape & sh, int head) {
    if (sh.max_bias == 0.0f) { return 1.0; }
    const int n = 1 << int(std::floor(std::log2(sh.n_head())));
    return head < n ? std::pow(2.0, -sh.max_bias * (head + 1) / n)
                    : std::pow(2.0, -sh.max_bias / 2 * (2 * (head - n) + 1) / n);
}

// One row of the output, and how far an f32 computation may be from it.
//
// With u = 2^-24, to first order and with any order of sums:
//   a logit is off by u*((dk + n_row + 4)*(sum|q k| + sum|z T|)*scale + 8*slope*|mask| + 8*softcap + 4*|logit| + 4*|max logit|): the dot product, products
//   with the scale, tanh as 1 - 2/(e^2x + 1), roundings, the difference from the maximum;
//   a weight w = e^logit by w*(that + 8u): 2^x to 2 units, up to two of rescaling in each of the tiles, which the 2*n_tile below add;
//   out = sum(w v)/sum(w) by sum(w*off*(|v| + |out|))/sum(w), and by (n_kv + 2*n_tile + 8)*u*sum(w |v|)/sum(w) for its own sums.
// A tenth more covers the higher orders. Weights below 2^-126 of the largest are anything up to that.
struct expected {
    std::vector<double> value;
    std::vector<double> bound;
};

expected reference(const operation & op, int stream, int head, int i) {
    const shape & sh = op.sh;
    const double u = std::ldexp(1.0, -24);
    const int head_kv = head / sh.gqa;
    const double slope = slope_of(sh, head);
    const float * q =
        (const float *) ((const char *) op.q->data + i * op.q->nb[1] + head * op.q->nb[2] + stream * op.q->nb[3]);

    std::vector<double> logit(sh.n_kv);
    std::vector<double> off(sh.n_kv);
    double max = -INFINITY;
    for (int p = 0; p < sh.n_kv; ++p) {
        const float m = op.mask_at(stream, head, i, p);
        if (m == -INFINITY) {
            logit[p] = -INFINITY;
            continue;
        }
        const float * k = op.k_row(stream, head_kv, p);
        double dot = 0.0;
        double size = 0.0;
        for (int d = 0; d < sh.dk; ++d) {
            dot += double(q[d]) * k[d];
            size += std::fabs(double(q[d]) * k[d]);
        }
        if (op.bias) {
            const bias_data::sum bias = op.bias->at(stream, i, head, p);
            dot += bias.value;
            size += bias.size;
        }
        dot *= op.scale;
        logit[p] = (sh.softcap == 0.0f ? dot : sh.softcap * std::tanh(dot / sh.softcap)) + slope * m;
        off[p] = u * ((sh.dk + sh.bias_rows + 4) * size * op.scale + 8 * slope * std::fabs(m) + 8 * sh.softcap +
                         4 * std::fabs(logit[p]));
        max = std::max(max, logit[p]);
    }
    const float * sinks = op.sinks ? (const float *) op.sinks->data : nullptr;
    if (sinks) { max = std::max(max, double(sinks[head])); }

    expected e = { std::vector<double>(sh.dv), std::vector<double>(sh.dv) };
    double sum = sinks ? std::exp(sinks[head] - max) : 0.0;
    std::vector<double> size(sh.dv);
    for (int p = 0; p < sh.n_kv; ++p) {
        const double w = logit[p] == -INFINITY ? 0.0 : std::exp(logit[p] - max);
        sum += w;
        for (int d = 0; d < sh.dv && w > 0.0; ++d) {
            const double v = op.v_row(stream, head_kv, p)[d];
            e.value[d] += w * v;
            size[d] += w * std::fabs(v);
        }
    }
    if (sum == 0.0) { return e; }
    double mean_off =
        sinks ? std::exp(sinks[head] - max) / sum * u * (8 + 4 * std::fabs(sinks[head]) + 4 * std::fabs(max)) : 0.0;
    for (int p = 0; p < sh.n_kv; ++p) {
        if (logit[p] > -INFINITY) {
            mean_off += std::exp(logit[p] - max) / sum * (off[p] + u * (8 + 4 * std::fabs(max)));
        }
    }
    for (int d = 0; d < sh.dv; ++d) {
        e.value[d] /= sum;
        e.bound[d] = std::fabs(e.value[d]) * mean_off + (sh.n_kv + 2 * (sh.n_kv / 64 + 1) + 8) * u * size[d] / sum;
    }
    for (int p = 0; p < sh.n_kv; ++p) {
        const double w =
            logit[p] == -INFINITY ? 0.0 : std::exp(logit[p] - max) / sum * (off[p] + u * (8 + 4 * std::fabs(max)));
        for (int d = 0; d < sh.dv && w > 0.0; ++d) {
            e.bound[d] += w * std::fabs(double(op.v_row(stream, head_kv, p)[d]));
        }
    }
    for (double & b : e.bound) { b = 1.1 * b + std::ldexp(sh.n_kv, -120); }
    return e;
}

// Largest error in units of the bound over the rows for which `wanted` holds. NaN counts as infinite.
template <typename F> double worst(const operation & op, const std::vector<float> & y, F && wanted) {
    const shape & sh = op.sh;
    double ratio = 0.0;
    for (int s = 0; s < sh.n_stream; ++s) {
        for (int i = 0; i < sh.n_rows; ++i) {
            for (int h = 0; h < sh.n_head() && wanted(i); ++h) {
                const expected e = reference(op, s, h, i);
                const float * row = y.data() + (((size_t) s * sh.n_rows + i) * sh.n_head() + h) * sh.dv;
                for (int d = 0; d < sh.dv; ++d) {
                    const double error = std::fabs(row[d] - e.value[d]);
                    ratio = std::max(ratio, error == 0.0 ? 0.0 : error == error ? error / e.bound[d] : INFINITY);
                }
            }
        }
    }
    return ratio;
}

const ggml_type TYPES[] = {
    GGML_TYPE_TURBO4,
    GGML_TYPE_TURBO3,
    GGML_TYPE_TURBO4_64,
    GGML_TYPE_TURBO3_64,
    GGML_TYPE_TURBO4_TCQ,
    GGML_TYPE_TURBO3_TCQ,
    GGML_TYPE_TURBO4_TCQ_64,
    GGML_TYPE_TURBO3_TCQ_64,
    GGML_TYPE_F16,
    GGML_TYPE_F32,
    GGML_TYPE_BF16,
    GGML_TYPE_Q8_0,
    GGML_TYPE_Q4_0,
    GGML_TYPE_Q5_1,
    GGML_TYPE_IQ4_NL,
};

ggml_type random_type(std::mt19937 & rng, int width) {
    for (;;) {
        const ggml_type type = TYPES[rng() % (sizeof(TYPES) / sizeof(*TYPES))];
        if (width % ggml_blck_size(type) == 0) { return type; }
    }
}

shape random_shape(unsigned seed) {
    std::mt19937 rng(seed);
    const auto pick = [&rng](std::initializer_list<int> of) { return *(of.begin() + rng() % of.size()); };
    shape sh = {};
    sh.seed = seed;
    sh.dk = pick({ 64, 128, 128, 256, 96, 40 });
    sh.dv = rng() % 3 == 0 ? pick({ 64, 128, 256, 72 }) : sh.dk;
    sh.type_k = random_type(rng, sh.dk);
    sh.type_v = random_type(rng, sh.dv);
    sh.gqa = 1 + rng() % 8;
    sh.n_head_kv = 1 + rng() % 3;
    // more query vectors than decode takes, or a type that it does not take
    sh.n_rows = seed % 16 == 0 ? 4 : 33 / sh.gqa + 1 + rng() % (60 / sh.gqa + 1);
    if (seed % 16 == 0) { sh.type_k = sh.type_v = GGML_TYPE_BF16; }
    sh.n_kv = sh.n_rows + (rng() % 4 == 0 ? rng() % 20 : rng() % 400);
    if (seed % 8 == 0) { sh.n_kv += 700; } // divided
    sh.n_stream = pick({ 1, 1, 2 });
    sh.interleaved = rng() % 2;
    sh.mask = mask_kind(rng() % int(mask_kind::COUNT));
    sh.mask_n_head = rng() % 4 ? 1 : sh.n_head_kv * sh.gqa;
    sh.mask_n_stream = rng() % 2 ? 1 : sh.n_stream;
    sh.sinks = rng() % 3 == 0;
    sh.softcap = rng() % 4 == 0 ? 20.0f : 0.0f;
    sh.max_bias = rng() % 4 == 0 && sh.mask != mask_kind::none ? 8.0f : 0.0f;
    sh.bias_rows = seed % 3 == 0 ? 1 + int(rng() % 70) : 0;
    sh.scattered = rng() % 2;
    return sh;
}

void check_shape(const shape & sh) {
    const operation op = make_operation(sh);
    const std::vector<float> y = compute(op, 1);
    const double ratio = worst(op, y, [](int) { return true; });
    check(ratio <= 1.0, __FILE__, __LINE__, "error " + std::to_string(ratio) + " of the bound: " + sh.text());
    for (int n_threads = 2; n_threads <= 3; ++n_threads) {
        const std::vector<float> z = compute(op, n_threads);
        check(memcmp(y.data(), z.data(), y.size() * sizeof(float)) == 0, __FILE__, __LINE__,
            std::to_string(n_threads) + " threads differ from one: " + sh.text());
    }
}

shape plain_shape(ggml_type type) {
    shape sh = {};
    sh.type_k = sh.type_v = type;
    sh.dk = sh.dv = 128;
    sh.n_kv = 200;
    sh.n_rows = 96;
    sh.n_head_kv = 2;
    sh.gqa = 2;
    sh.n_stream = 1;
    sh.mask = mask_kind::causal;
    sh.mask_n_head = sh.mask_n_stream = 1;
    sh.seed = 1;
    return sh;
}

} // namespace

TEST("prefill: random shapes, masks and types") {
    for (unsigned seed = 1; seed <= 150; ++seed) { check_shape(random_shape(seed)); }
}

TEST("prefill: more query vectors than one item holds") {
    shape sh = plain_shape(GGML_TYPE_TURBO4);
    sh.n_head_kv = 1;
    sh.gqa = 4;
    sh.n_rows = 300;
    sh.n_kv = 333;
    check_shape(sh);
    sh.bias_rows = 65;
    check_shape(sh);
}

TEST("prefill: sinks and a bias together, with capped scores and without") {
    for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_TURBO4_64, GGML_TYPE_F16 }) {
        for (const float softcap : { 0.0f, 20.0f }) {
            shape sh = plain_shape(type);
            if (type == GGML_TYPE_TURBO4_64) { sh.dk = sh.dv = 64; }
            sh.sinks = true;
            sh.softcap = softcap;
            sh.bias_rows = sh.dk + 1;
            sh.scattered = softcap > 0.0f;
            check_shape(sh);
        }
    }
}

TEST("prefill: K and V that are not finite reach the rows that see them, and no others") {
    const int at = 130; // position; row i sees positions up to 104 + i
    for (const bool in_v : { false, true }) {
        const operation op = make_operation(plain_shape(GGML_TYPE_F16));
        const ggml_fp16_t nan = 0x7e00;
        ggml_tensor * side = in_v ? op.v : op.k;
        for (int h = 0; h < op.sh.n_head_kv; ++h) {
            memcpy((char *) side->data + at * side->nb[1] + h * side->nb[2], &nan, sizeof(nan));
        }
        const std::vector<float> y = compute(op, 2);
        CHECK_LE(worst(op, y, [&](int i) { return 104 + i < at; }), 1.0);
        for (int i = at - 104; i < op.sh.n_rows; ++i) {
            for (int h = 0; h < op.sh.n_head(); ++h) {
                CHECK(std::isnan(y[((size_t) i * op.sh.n_head() + h) * op.sh.dv]));
            }
        }
    }
}
