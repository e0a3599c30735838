// Decode kernels in plain C++: K and V rows are decoded to floats once for all query vectors. The fallback of builds and
// processors without another level.

#include "decode-kernels.h"
#include "turbo-codec.h"

#include "ggml.h"

#include <cmath>
#include <cstring>

namespace {

const int MAX_BLOCK = 128;

struct turbo4    { static const int BLOCK = 128; static const turbo_format_id ID = TURBO_FORMAT_4;    };
struct turbo3    { static const int BLOCK = 128; static const turbo_format_id ID = TURBO_FORMAT_3;    };
struct turbo4_64 { static const int BLOCK = 64;  static const turbo_format_id ID = TURBO_FORMAT_4_64; };
struct turbo3_64 { static const int BLOCK = 64;  static const turbo_format_id ID = TURBO_FORMAT_3_64; };

template <typename T> const char * decode_block(const char * x, float * y) {
    turbo_kernels_ref.to_float[T::ID](x, y, T::BLOCK);
    return x + turbo_formats[T::ID].block_size;
}

struct q8_0 { static const int BLOCK = 32; };

template <> const char * decode_block<q8_0>(const char * x, float * y) {
    turbo_block_q8 b;
    memcpy(&b, x, sizeof(b));
    const float d = ggml_fp16_to_fp32(b.d);
    for (int i = 0; i < q8_0::BLOCK; ++i) {
        y[i] = d*b.qs[i];
    }
    return x + sizeof(b);
}

struct q4_0 { static const int BLOCK = 32; };

template <> const char * decode_block<q4_0>(const char * x, float * y) {
    turbo_block_q4 b;
    memcpy(&b, x, sizeof(b));
    const float d = ggml_fp16_to_fp32(b.d);
    for (int i = 0; i < q4_0::BLOCK/2; ++i) {
        y[i]                 = d*((b.qs[i] & 15) - 8);
        y[i + q4_0::BLOCK/2] = d*((b.qs[i] >> 4) - 8);
    }
    return x + sizeof(b);
}

struct f16 { static const int BLOCK = 32; };

template <> const char * decode_block<f16>(const char * x, float * y) {
    ggml_fp16_t half[f16::BLOCK];
    memcpy(half, x, sizeof(half));
    ggml_fp16_to_fp32_row(half, y, f16::BLOCK);
    return x + sizeof(half);
}

size_t query_size(int dim) {
    return dim*sizeof(float);
}

void query(const float * x, int dim, float scale, void * query) {
    for (int i = 0; i < dim; ++i) {
        ((float *) query)[i] = scale*x[i];
    }
}

template <typename T> void scores(const decode_rows * k, const void * const * query, int n_query, float * score) {
    for (int p = 0; p < DECODE_TILE; ++p) {
        for (int j = 0; j < n_query; ++j) {
            score[j*DECODE_TILE + p] = 0.0f;
        }
        const char * block = k->data + p*k->stride;
        for (int i0 = 0; i0 < k->dim; i0 += T::BLOCK) {
            float x[MAX_BLOCK];
            block = decode_block<T>(block, x);
            for (int j = 0; j < n_query; ++j) {
                const float * q = (const float *) query[j] + i0;
                float sum = 0.0f;
                for (int i = 0; i < T::BLOCK; ++i) {
                    sum += q[i]*x[i];
                }
                score[j*DECODE_TILE + p] += sum;
            }
        }
    }
}

template <typename T> void accumulate(const decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc) {
    for (int j = 0; j < n_query; ++j) {
        for (int i = 0; i < v->dim; ++i) {
            acc[j][i] *= rescale[j];
        }
    }
    for (int p = 0; p < DECODE_TILE; ++p) {
        const char * block = v->data + p*v->stride;
        for (int i0 = 0; i0 < v->dim; i0 += T::BLOCK) {
            float x[MAX_BLOCK];
            block = decode_block<T>(block, x);
            for (int j = 0; j < n_query; ++j) {
                const float w = weight[j*DECODE_TILE + p];
                for (int i = 0; w > 0.0f && i < T::BLOCK; ++i) {
                    acc[j][i0 + i] += w*x[i];
                }
            }
        }
    }
}

void finish(float *, int) {}

#define INLINE inline

INLINE float apply_mask(float * score, const uint16_t * mask, float slope) {
    float top = -INFINITY;
    for (int p = 0; p < DECODE_TILE; ++p) {
        if (mask != nullptr) {
            const float m = ggml_fp16_to_fp32(mask[p]);
            score[p] = m == -INFINITY ? -INFINITY : score[p] + slope*m;
        }
        top = score[p] > top ? score[p] : top;
    }
    return top;
}

INLINE float weights_of_logits(float * score, float max) {
    float sum = 0.0f;
    for (int p = 0; p < DECODE_TILE; ++p) {
        score[p] = expf(score[p] - max);
        sum += score[p];
    }
    return sum;
}

INLINE float exp_of(float x) {
    return expf(x);
}

#include "decode-softmax.h"

#define K_KERNELS(type) { query_size, query, scores<type> }
#define V_KERNELS(type) { accumulate<type>, finish }

} // namespace

extern const decode_kernels decode_kernels_scalar = {
    "scalar",
    softmax,
    { K_KERNELS(turbo4), K_KERNELS(turbo3), K_KERNELS(turbo4_64), K_KERNELS(turbo3_64), K_KERNELS(q8_0), K_KERNELS(q4_0), K_KERNELS(f16) },
    { V_KERNELS(turbo4), V_KERNELS(turbo3), V_KERNELS(turbo4_64), V_KERNELS(turbo3_64), V_KERNELS(q8_0), V_KERNELS(q4_0), V_KERNELS(f16) },
};
