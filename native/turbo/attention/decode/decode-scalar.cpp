// Decode kernels in plain C++: K and V rows are decoded to floats once for all query vectors. The fallback of builds and
// processors without another level.

#include "decode-kernels.h"
#include "turbo-codec.h"

#include "ggml.h"

#include <math.h>
#include <string.h>

#define INLINE inline
#define UNROLL

namespace {

#include "vec-scalar.inl"

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

#define FORMAT_OF_TURBO(ID, name, group) typedef of_turbo<TURBO_FORMAT_##ID, group> format_##name;
TURBO_EACH_TYPE(FORMAT_OF_TURBO)
typedef of_ggml<GGML_TYPE_Q8_0> format_q8_0;
typedef of_ggml<GGML_TYPE_Q5_0> format_q5_0;
typedef of_ggml<GGML_TYPE_IQ4_NL> format_iq4_nl;
typedef of_ggml<GGML_TYPE_Q4_0> format_q4_0;
typedef of_ggml<GGML_TYPE_F16> format_f16;

size_t query_size(int dim) { return dim * sizeof(float); }

void query(const float * x, int dim, float scale, void * query) {
    for (int i = 0; i < dim; ++i) { ((float *) query)[i] = scale * x[i]; }
}

template <typename T> void scores(const decode_rows * k, const void * const * query, int n_query, float * score) {
    for (int p = 0; p < DECODE_TILE; ++p) {
        for (int j = 0; j < n_query; ++j) { score[j * DECODE_TILE + p] = 0.0f; }
        const char * block = k->data + p * k->stride;
        for (int i0 = 0; i0 < k->dim; i0 += T::BLOCK) {
            float x[MAX_BLOCK];
            block = T::decode(block, x);
            for (int j = 0; j < n_query; ++j) {
                const float * q = (const float *) query[j] + i0;
                float sum = 0.0f;
                for (int i = 0; i < T::BLOCK; ++i) { sum += q[i] * x[i]; }
                score[j * DECODE_TILE + p] += sum;
            }
        }
    }
}

template <typename T>
void accumulate(const decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc) {
    for (int j = 0; j < n_query; ++j) {
        for (int i = 0; i < v->dim; ++i) { acc[j][i] *= rescale[j]; }
    }
    for (int p = 0; p < DECODE_TILE; ++p) {
        const char * block = v->data + p * v->stride;
        for (int i0 = 0; i0 < v->dim; i0 += T::BLOCK) {
            float x[MAX_BLOCK];
            block = T::decode(block, x);
            for (int j = 0; j < n_query; ++j) {
                const float w = weight[j * DECODE_TILE + p];
                for (int i = 0; w > 0.0f && i < T::BLOCK; ++i) { acc[j][i0 + i] += w * x[i]; }
            }
        }
    }
}

void finish(float *, int) {}

INLINE vec exp_of(vec x) { return expf(x); }

#include "decode-bias.inl"
#include "decode-softmax.inl"
#include "soft-cap.inl"

#define K_KERNELS(type) { query_size, query, scores<type> }
#define V_KERNELS(type) { accumulate<type>, finish }
#define K_KERNELS_F16   K_KERNELS(format_f16)
#define V_KERNELS_F16   V_KERNELS(format_f16)

} // namespace

extern const decode_kernels decode_kernels_scalar = DECODE_TABLE("scalar");
