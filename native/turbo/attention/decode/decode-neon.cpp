// Decode kernels for NEON with dotprod (AArch64). Compiled with its own flags: intrinsics and this file's own functions only,
// because an inline function shared with another file could be kept in this file's version for all of them.
//
// Unlike decode-body.inl this works row by row: a dot product of NEON adds four bytes into a lane without overflow, so K levels
// are used as they are, and V is expanded to floats once for all query vectors of the head.

#include "decode-kernels.h"
#include "turbo-neon.h"

#include <math.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

namespace {

#include "vec-neon.inl"

const int MAX_GROUP = 128;

// A share of the memory to prefetch: step of n_step.
INLINE void prefetch_share(const decode_rows * r, int step, int n_step) {
    const size_t first = r->ahead_size / 64 * step / n_step;
    const size_t last = r->ahead_size / 64 * (step + 1) / n_step;
    for (size_t i = first; i < last; ++i) { __builtin_prefetch(r->ahead + 64 * i); }
}

//
// formats: `levels` 16*i .. 16*i + 15 of a block as int8, the factor of integer sums over these, and the block's scale
//

template <typename BLOCK, int G> struct turbo_base {
    typedef BLOCK block;
    static const int GROUP = G;

    static INLINE int mult(const BLOCK * b, int i) { return TURBO_MULT(b->sub >> (4 * i / (G / 64) & ~3) & 15); }
    static INLINE float scale(const BLOCK * b) { return turbo_neon_f16(b->d) * TURBO_UNIT; }
};

#define FORMAT_OF_TURBO(ID, name, group) \
    struct format_##name : turbo_base<block_##name, group> { \
        static INLINE int8x16_t levels(const block * b, int i) { return turbo_neon_##name(b, i); } \
    };
TURBO_EACH_TYPE(FORMAT_OF_TURBO)

struct format_q8_0 {
    typedef block_q8_0 block;
    static const int GROUP = QK8_0;

    static INLINE int mult(const block *, int) { return 1; }
    static INLINE float scale(const block * b) { return turbo_neon_f16(b->d); }
    static INLINE int8x16_t levels(const block * b, int i) { return vld1q_s8(b->qs + 16 * i); }
};

// types of ggml with 32 values
template <typename BLOCK> struct block32 {
    typedef BLOCK block;
    static const int GROUP = QK4_0;

    static INLINE int mult(const BLOCK *, int) { return 1; }
    static INLINE float scale(const BLOCK * b) { return turbo_neon_f16(b->d); }
    static INLINE uint8x16_t codes(const BLOCK * b, int i) {
        const uint8x16_t x = vld1q_u8(b->qs);
        return i == 0 ? vandq_u8(x, vdupq_n_u8(15)) : vshrq_n_u8(x, 4);
    }
};

struct format_q4_0 : block32<block_q4_0> {
    static INLINE int8x16_t levels(const block * b, int i) {
        return vsubq_s8(vreinterpretq_s8_u8(codes(b, i)), vdupq_n_s8(8));
    }
};

struct format_iq4_nl : block32<block_iq4_nl> {
    static INLINE int8x16_t levels(const block * b, int i) {
        const int8_t table[16] = IQ4_NL_LEVELS;
        return vqtbl1q_s8(vld1q_s8(table), codes(b, i));
    }
};

struct format_q5_0 : block32<block_q5_0> {
    static INLINE int8x16_t levels(const block * b, int i) {
        const uint8_t bit[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
        const uint8x16_t set =
            vtstq_u8(vcombine_u8(vdup_n_u8(b->qh[2 * i]), vdup_n_u8(b->qh[2 * i + 1])), vld1q_u8(bit));
        // 16 less without the bit
        return vreinterpretq_s8_u8(vorrq_u8(codes(b, i), vbicq_u8(vdupq_n_u8(0xf0), set)));
    }
};

//
// K: int8 query with a scale per block. Integer sums stay exact: 8 values * 128 * 127 * 255 * 4 are below 2^31.
//

template <int G> struct int_query {
    int8_t q[G];
    float scale;
    float pad[15];
};

template <typename FMT> size_t query_size_int(int dim) {
    return (sizeof(int_query<FMT::GROUP>) * (dim / FMT::GROUP) + 63) / 64 * 64;
}

template <typename FMT> void query_int(const float * x, int dim, float scale, void * query) {
    int_query<FMT::GROUP> * out = (int_query<FMT::GROUP> *) query;
    for (int k = 0; k < dim; k += FMT::GROUP, ++out, x += FMT::GROUP) {
        float most = 0.0f;
        float shown = 0.0f; // NaN when a value is not finite
        for (int i = 0; i < FMT::GROUP; ++i) {
            const float a = x[i] < 0 ? -x[i] : x[i];
            most = a > most ? a : most;
            shown += 0.0f * x[i];
        }
        const float step = most / 127.0f;
        const float inv = step > 0.0f ? 1.0f / step : 0.0f;
        for (int i = 0; i < FMT::GROUP; ++i) {
            const float v = x[i] * inv;
            out->q[i] = shown == 0.0f && inv > 0.0f ? (int8_t) (v < 0 ? v - 0.5f : v + 0.5f) : 0;
        }
        out->scale = scale * step + shown;
    }
}

// sums of row . query as four parts each
template <typename FMT, int NQ>
INLINE void dot_row(const char * row, int n_block, const void * const * query, float32x4_t sum[NQ]) {
    const typename FMT::block * block = (const typename FMT::block *) row;
    UNROLL for (int j = 0; j < NQ; ++j) { sum[j] = vdupq_n_f32(0.0f); }
    for (int b = 0; b < n_block; ++b, ++block) {
        int32x4_t acc[NQ];
        UNROLL for (int j = 0; j < NQ; ++j) { acc[j] = vdupq_n_s32(0); }
        UNROLL for (int i = 0; i < FMT::GROUP / 16; ++i) {
            const int8x16_t level = FMT::levels(block, i);
            const int mult = FMT::mult(block, i);
            UNROLL for (int j = 0; j < NQ; ++j) {
                const int8_t * q = ((const int_query<FMT::GROUP> *) query[j])[b].q;
                acc[j] = vmlaq_n_s32(acc[j], vdotq_s32(vdupq_n_s32(0), level, vld1q_s8(q + 16 * i)), mult);
            }
        }
        const float d = FMT::scale(block);
        UNROLL for (int j = 0; j < NQ; ++j) {
            sum[j] =
                vfmaq_n_f32(sum[j], vcvtq_f32_s32(acc[j]), d * ((const int_query<FMT::GROUP> *) query[j])[b].scale);
        }
    }
}

struct int_rows {
    template <typename FMT, int NQ>
    static INLINE void dot(const decode_rows * k, const char * row, const void * const * query, float32x4_t sum[NQ]) {
        dot_row<FMT, NQ>(row, k->dim / FMT::GROUP, query, sum);
    }
};

// f16 rows and a query of floats
struct format_f16 {
    typedef uint16_t block;
    static const int GROUP = 32;
};

struct float_rows {
    template <typename, int NQ>
    static INLINE void dot(const decode_rows * k, const char * row, const void * const * query, float32x4_t sum[NQ]) {
        UNROLL for (int j = 0; j < NQ; ++j) { sum[j] = vdupq_n_f32(0.0f); }
        for (int i = 0; i < k->dim; i += 4) {
            const float32x4_t x = load_f16((const uint16_t *) row + i);
            UNROLL for (int j = 0; j < NQ; ++j) {
                sum[j] = vfmaq_f32(sum[j], x, vld1q_f32((const float *) query[j] + i));
            }
        }
    }
};

size_t query_size_float(int dim) { return (dim * sizeof(float) + 63) / 64 * 64; }

void query_float(const float * x, int dim, float scale, void * query) {
    for (int i = 0; i < dim; ++i) { ((float *) query)[i] = scale * x[i]; }
}

template <typename ROWS, typename FMT, int NQ>
INLINE void scores_n(const decode_rows * k, const void * const * query, float * score, bool first) {
    for (int p0 = 0; p0 < DECODE_TILE; p0 += 4) {
        if (first) { prefetch_share(k, p0 / 4, DECODE_TILE / 4); }
        float32x4_t sum[4][NQ];
        UNROLL for (int p = 0; p < 4; ++p) {
            ROWS::template dot<FMT, NQ>(k, k->data + (p0 + p) * k->stride, query, sum[p]);
        }
        UNROLL for (int j = 0; j < NQ; ++j) {
            vst1q_f32(score + j * DECODE_TILE + p0,
                vpaddq_f32(vpaddq_f32(sum[0][j], sum[1][j]), vpaddq_f32(sum[2][j], sum[3][j])));
        }
    }
}

template <typename ROWS, typename FMT>
void scores(const decode_rows * k, const void * const * query, int n_query, float * score) {
    int j = 0;
    for (; j + 4 <= n_query; j += 4) { scores_n<ROWS, FMT, 4>(k, query + j, score + j * DECODE_TILE, j == 0); }
    switch (n_query - j) {
        case 3: scores_n<ROWS, FMT, 3>(k, query + j, score + j * DECODE_TILE, j == 0); break;
        case 2: scores_n<ROWS, FMT, 2>(k, query + j, score + j * DECODE_TILE, j == 0); break;
        case 1: scores_n<ROWS, FMT, 1>(k, query + j, score + j * DECODE_TILE, j == 0); break;
    }
}

//
// V: a block of each row of the tile as floats. Rows that are not finite are zeros there and come in at the end, for the
// query vectors that see them.
//

template <typename FMT> INLINE bool expand(const char * row, float * y) {
    const typename FMT::block * b = (const typename FMT::block *) row;
    const float d = FMT::scale(b);
    UNROLL for (int i = 0; i < FMT::GROUP / 16; ++i) {
        turbo_neon_store(FMT::levels(b, i), d * FMT::mult(b, i), y + 16 * i);
    }
    return d * 0.0f == 0.0f;
}

template <> INLINE bool expand<format_f16>(const char * row, float * y) {
    float32x4_t zeros = vdupq_n_f32(0.0f);
    UNROLL for (int i = 0; i < format_f16::GROUP; i += 4) {
        const float32x4_t x = load_f16((const uint16_t *) row + i);
        zeros = vfmaq_n_f32(zeros, x, 0.0f);
        vst1q_f32(y + i, x);
    }
    return vaddvq_f32(zeros) == 0.0f;
}

template <typename FMT> size_t block_size() { return sizeof(typename FMT::block); }

template <> size_t block_size<format_f16>() { return format_f16::GROUP * sizeof(uint16_t); }

// acc[j] += weight . x over the rows, of `group` values each
template <int NQ> INLINE void add_rows(const float * x, int group, const float * weight, float * const * acc, int k) {
    for (int i = 0; i < group; i += 16) {
        float32x4_t sum[NQ][4];
        UNROLL for (int j = 0; j < NQ; ++j) {
            UNROLL for (int t = 0; t < 4; ++t) { sum[j][t] = vld1q_f32(acc[j] + k + i + 4 * t); }
        }
        for (int p = 0; p < DECODE_TILE; ++p) {
            float32x4_t v[4];
            UNROLL for (int t = 0; t < 4; ++t) { v[t] = vld1q_f32(x + p * group + i + 4 * t); }
            UNROLL for (int j = 0; j < NQ; ++j) {
                UNROLL for (int t = 0; t < 4; ++t) {
                    sum[j][t] = vfmaq_n_f32(sum[j][t], v[t], weight[j * DECODE_TILE + p]);
                }
            }
        }
        UNROLL for (int j = 0; j < NQ; ++j) {
            UNROLL for (int t = 0; t < 4; ++t) { vst1q_f32(acc[j] + k + i + 4 * t, sum[j][t]); }
        }
    }
}

template <typename FMT>
void add_bad_row(const char * row, const float * weight, int n_query, float * const * acc, int k) {
    float x[FMT::GROUP];
    expand<FMT>(row, x);
    for (int j = 0; j < n_query; ++j) {
        const float w = weight[j * DECODE_TILE];
        for (int i = 0; w > 0.0f && i < FMT::GROUP; ++i) { acc[j][k + i] += w * x[i]; }
    }
}

template <typename FMT>
void accumulate(const decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc) {
    for (int j = 0; j < n_query; ++j) {
        for (int i = 0; i < v->dim; i += 4) { vst1q_f32(acc[j] + i, vmulq_n_f32(vld1q_f32(acc[j] + i), rescale[j])); }
    }

    alignas(64) float x[DECODE_TILE * MAX_GROUP];
    const int G = FMT::GROUP;
    for (int k = 0; k < v->dim; k += G) {
        const char * rows = v->data + k / G * block_size<FMT>();
        uint32_t bad = 0;
        for (int p = 0; p < DECODE_TILE; ++p) {
            if (k == 0 && p % 4 == 0) { prefetch_share(v, p / 4, DECODE_TILE / 4); }
            if (!expand<FMT>(rows + p * v->stride, x + p * G)) {
                memset(x + p * G, 0, G * sizeof(float));
                bad |= 1u << p;
            }
        }
        int j = 0;
        for (; j + 4 <= n_query; j += 4) { add_rows<4>(x, G, weight + j * DECODE_TILE, acc + j, k); }
        switch (n_query - j) {
            case 3: add_rows<3>(x, G, weight + j * DECODE_TILE, acc + j, k); break;
            case 2: add_rows<2>(x, G, weight + j * DECODE_TILE, acc + j, k); break;
            case 1: add_rows<1>(x, G, weight + j * DECODE_TILE, acc + j, k); break;
        }
        for (int p = 0; bad != 0 && p < DECODE_TILE; ++p) {
            if (bad >> p & 1) { add_bad_row<FMT>(rows + p * v->stride, weight + p, n_query, acc, k); }
        }
    }
}

void finish(float *, int) {}

#include "decode-exp.inl"
#include "decode-bias.inl"
#include "decode-softmax.inl"
#include "soft-cap.inl"

#define K_KERNELS(fmt) { query_size_int<fmt>, query_int<fmt>, scores<int_rows, fmt> }
#define V_KERNELS(fmt) { accumulate<fmt>, finish }
#define K_KERNELS_F16  { query_size_float, query_float, scores<float_rows, format_f16> }
#define V_KERNELS_F16  V_KERNELS(format_f16)

} // namespace

extern const decode_kernels decode_kernels_neon = DECODE_TABLE("neon");
