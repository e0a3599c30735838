// Decode kernels in plain C++: K and V rows are decoded to floats once for all query vectors. The fallback of builds and
// processors without another level.

#include "decode-kernels.h"
#include "turbo-codec.h"

#include "ggml.h"

#include <cmath>

namespace {

const int MAX_BLOCK = 128;

template <turbo_format_id ID, int N> struct of_turbo {
    static const int BLOCK = N;

    static const char * decode(const char * x, float * y) {
        turbo_kernels_ref.to_float[ID](x, y, BLOCK);
        return x + turbo_formats[ID].block_size;
    }
};

// a type of ggml, 32 values at a time
template <ggml_type TYPE> struct of_ggml {
    static const int BLOCK = 32;

    static const char * decode(const char * x, float * y) {
        ggml_get_type_traits(TYPE)->to_float(x, y, BLOCK);
        return x + ggml_row_size(TYPE, BLOCK);
    }
};

typedef of_turbo<TURBO_FORMAT_4,    128> turbo4;
typedef of_turbo<TURBO_FORMAT_3,    128> turbo3;
typedef of_turbo<TURBO_FORMAT_4_64, 64>  turbo4_64;
typedef of_turbo<TURBO_FORMAT_3_64, 64>  turbo3_64;
typedef of_ggml<GGML_TYPE_Q8_0>   q8_0;
typedef of_ggml<GGML_TYPE_Q5_0>   q5_0;
typedef of_ggml<GGML_TYPE_IQ4_NL> iq4_nl;
typedef of_ggml<GGML_TYPE_Q4_0>   q4_0;
typedef of_ggml<GGML_TYPE_F16>    f16;

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
            block = T::decode(block, x);
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
            block = T::decode(block, x);
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

#include "decode-softmax.inl"

#define K_KERNELS(type) { query_size, query, scores<type> }
#define V_KERNELS(type) { accumulate<type>, finish }

} // namespace

extern const decode_kernels decode_kernels_scalar = {
    "scalar",
    softmax,
    {
        K_KERNELS(turbo4), K_KERNELS(turbo3), K_KERNELS(turbo4_64), K_KERNELS(turbo3_64),
        K_KERNELS(q8_0), K_KERNELS(q5_0), K_KERNELS(iq4_nl), K_KERNELS(q4_0), K_KERNELS(f16),
    },
    {
        V_KERNELS(turbo4), V_KERNELS(turbo3), V_KERNELS(turbo4_64), V_KERNELS(turbo3_64),
        V_KERNELS(q8_0), V_KERNELS(q5_0), V_KERNELS(iq4_nl), V_KERNELS(q4_0), V_KERNELS(f16),
    },
};
