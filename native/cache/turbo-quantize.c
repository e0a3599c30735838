// The quantiser around the inner loops, and the packing of blocks.

#include "turbo-codec.h"

#include "ggml.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define SATURATE 262144.0f // 2^18, beyond the largest value of a block
#define FP16_MAX 65504.0f
#define FP16_NAN 0x7e00

// Least squares converges in two rounds of search and refit; a third lowers the error by less than 0.1%.
#define ROUNDS 2

struct group_code {
    uint16_t d;
    uint8_t  sub[TURBO_SUBSCALES];
    uint8_t  idx[TURBO_GROUP];      // magnitude index
    uint8_t  negative[TURBO_GROUP];
};

static void scales_of(float d, float scale[16]) {
    for (int s = 0; s < 16; ++s) {
        scale[s] = d*TURBO_UNIT*TURBO_MULT(s);
    }
}

static float root_mean_square(const float * a, int n) {
    float lane[TURBO_LANES] = { 0 };
    for (int i = 0; i < n; i += TURBO_LANES) {
        for (int j = 0; j < TURBO_LANES; ++j) {
            lane[j] += a[i + j]*a[i + j];
        }
    }
    for (int half = TURBO_LANES/2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) {
            lane[i] += lane[i + half];
        }
    }
    return sqrtf(lane[0]/n);
}

static void encode_group(const struct turbo_kernels * kern, const struct turbo_format * f, const float * x, struct group_code * code) {
    memset(code, 0, sizeof(*code));

    float a[TURBO_GROUP];
    bool  has_nan = false;
    for (int i = 0; i < f->group; ++i) {
        const float m = fabsf(x[i]);
        has_nan |= m != m;
        a[i] = m > SATURATE ? SATURATE : m;
    }
    if (has_nan) {
        code->d = FP16_NAN;
        return;
    }

    float d = f->d_of_rms*root_mean_square(a, f->group);
    if (ggml_fp32_to_fp16(d) == 0) {
        return;
    }

    float scale[16];
    for (int round = 0; round < ROUNDS; ++round) {
        scales_of(d, scale);
        float dot  = 0.0f;
        float norm = 0.0f;
        for (int q = 0; q < TURBO_SUBSCALES; ++q) {
            struct turbo_fit fit;
            kern->search(f, a + q*f->quarter, scale, &fit);
            const float mult = TURBO_MULT(fit.s);
            code->sub[q] = fit.s;
            dot  += mult*fit.dot;
            norm += mult*mult*fit.norm;
        }
        d = dot/(TURBO_UNIT*norm);
    }

    code->d = ggml_fp32_to_fp16(d < FP16_MAX ? d : FP16_MAX);
    if (code->d == 0) {
        memset(code, 0, sizeof(*code));
        return;
    }
    scales_of(ggml_fp16_to_fp32(code->d), scale);
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        kern->assign(f, a + q*f->quarter, scale[code->sub[q]], code->idx + q*f->quarter);
    }
    for (int i = 0; i < f->group; ++i) {
        code->negative[i] = signbit(x[i]) != 0;
    }
}

// All four layouts begin with d and sub; 4-bit ones then hold halves, 3-bit ones quarters and the sign plane.
struct block_head {
    uint16_t d;
    uint16_t sub;
    uint8_t  qs[];
};

static void pack(const struct turbo_format * f, const struct group_code * code, void * block) {
    struct block_head * head = block;
    memset(block, 0, f->block_size);
    head->d = code->d;
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        head->sub |= code->sub[q] << 4*q;
    }
    const int half    = f->group/2;
    const int quarter = f->quarter;
    if (f->n_levels == 8) {
        for (int i = 0; i < half; ++i) {
            const int lo = code->idx[i]        | code->negative[i]        << 3;
            const int hi = code->idx[i + half] | code->negative[i + half] << 3;
            head->qs[i] = lo | hi << 4;
        }
    } else {
        const uint8_t * idx = code->idx;
        for (int i = 0; i < quarter; ++i) {
            head->qs[i] = idx[i] | idx[i + quarter] << 2 | idx[i + 2*quarter] << 4 | idx[i + 3*quarter] << 6;
        }
        for (int i = 0; i < f->group; ++i) {
            head->qs[quarter + i/8] |= code->negative[i] << i%8;
        }
    }
}

void turbo_unpack(enum turbo_format_id id, const void * block, uint16_t * d, uint8_t sub[TURBO_SUBSCALES], int8_t * level) {
    const struct turbo_format * f = &turbo_formats[id];
    const struct block_head * head = block;
    *d = head->d;
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        sub[q] = head->sub >> 4*q & 15;
    }
    for (int i = 0; i < f->group; ++i) {
        int idx;
        int negative;
        if (f->n_levels == 8) {
            const int half = f->group/2;
            const int code = head->qs[i % half] >> (i < half ? 0 : 4);
            idx      = code & 7;
            negative = code >> 3 & 1;
        } else {
            idx      = head->qs[i % f->quarter] >> 2*(i/f->quarter) & 3;
            negative = head->qs[f->quarter + i/8] >> i%8 & 1;
        }
        level[i] = negative ? -f->levels[idx] : f->levels[idx];
    }
}

void turbo_quantize(const struct turbo_kernels * kern, enum turbo_format_id id, const float * x, void * y, int64_t k) {
    const struct turbo_format * f = &turbo_formats[id];
    assert(k % f->group == 0);
    for (uint8_t * block = y; k > 0; k -= f->group, block += f->block_size, x += f->group) {
        struct group_code code;
        encode_group(kern, f, x, &code);
        pack(f, &code, block);
    }
}
