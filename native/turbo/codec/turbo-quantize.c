// The quantizer around the inner loops, and the packing of blocks.

#include "turbo-codec.h"

#include "ggml.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FP16_NAN 0x7e00

// Of two rounds of search and refit the first tries every fourth sub-scale, the second all. With all in the first the error of
// a Gaussian would be 0.2% lower, of uneven groups up to 0.5% higher; a third round lowers it by less than 0.1%.
#define FIRST_STEP 4

struct group_code {
    uint16_t d;
    uint8_t sub[TURBO_SUBSCALES];
    uint8_t idx[TURBO_GROUP];      // magnitude index
    uint8_t negative[TURBO_GROUP];
};

static float root_mean_square(const float * a, int n) {
    float lane[TURBO_LANES] = { 0 };
    for (int i = 0; i < n; i += TURBO_LANES) {
        for (int j = 0; j < TURBO_LANES; ++j) { lane[j] += a[i + j] * a[i + j]; }
    }
    for (int half = TURBO_LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) { lane[i] += lane[i + half]; }
    }
    return sqrtf(lane[0] / n);
}

// One round: the best of the sub-scales first, first + step, ... for each quarter, and the d of least squares for them.
static float refit(const struct turbo_kernels * kern, const struct turbo_format * f, const float * a, float d,
    int first, int step, struct group_code * code) {
    const float inv = 1.0f / (TURBO_SEARCH_UNIT * d);
    int16_t whole[TURBO_GROUP];
    for (int i = 0; i < f->group; ++i) {
        const float v = a[i] * inv + 0.5f;
        whole[i] = (int16_t) (int) (v < 32767.0f ? v : 32767.0f);
    }

    struct turbo_fit fit[TURBO_SUBSCALES];
    kern->search(f, whole, first, step, fit);
    int64_t dot = 0;
    int64_t norm = 0;
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        const int64_t mult = TURBO_MULT(fit[q].s);
        code->sub[q] = fit[q].s;
        dot += mult * fit[q].dot;
        norm += mult * mult * fit[q].norm;
    }
    return d * (4.0f * (float) dot / (float) norm);
}

// |x| of a group; false when there is a NaN.
static bool magnitudes_of(const float * x, int n, float * a) {
    bool has_nan = false;
    for (int i = 0; i < n; ++i) {
        const float m = fabsf(x[i]);
        a[i] = m > TURBO_SATURATE ? TURBO_SATURATE : m;
        has_nan |= a[i] != a[i];
    }
    return !has_nan;
}

static void encode_group(const struct turbo_kernels * kern, const struct turbo_format * f, const float * x,
    const float * a, float d, struct group_code * code) {
    memset(code, 0, sizeof(*code));

    d = refit(kern, f, a, d, 1, FIRST_STEP, code);
    d = refit(kern, f, a, d, 0, 1, code);

    code->d = ggml_fp32_to_fp16(d < TURBO_FP16_MAX ? d : TURBO_FP16_MAX);
    if (code->d == 0) {
        memset(code, 0, sizeof(*code));
        return;
    }
    const float unit = ggml_fp16_to_fp32(code->d) * TURBO_UNIT;
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        kern->assign(f, a + q * f->quarter, unit * TURBO_MULT(code->sub[q]), code->idx + q * f->quarter);
    }
    for (int i = 0; i < f->group; ++i) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof(bits));
        code->negative[i] = bits >> 31;
    }
}

static void pack4(const struct group_code * code, int group, uint8_t * qs) {
    const int half = group / 2;
    for (int i = 0; i < half; ++i) {
        const int lo = code->idx[i] | code->negative[i] << 3;
        const int hi = code->idx[i + half] | code->negative[i + half] << 3;
        qs[i] = lo | hi << 4;
    }
}

// n bytes; a shift moves bits within bytes as long as none leaves its own
static inline uint64_t bytes_of(const uint8_t * p, int n) {
    uint64_t bytes = 0;
    memcpy(&bytes, p, n);
    return bytes;
}

// n is known to the compiler
static inline void pack3(const struct group_code * code, int n, uint8_t * qs) {
    for (int h = 0; h < 2; ++h) {
        uint8_t half[TURBO_GROUP / 2]; // codes in the order of their words
        for (int u = 0; u < 8 * n; u += 16) {
            const int v = 2 * u + 16 * h;
            for (int i = 0; i < 16; ++i) { half[u + i] = code->idx[v + i] | code->negative[v + i] << 2; }
        }
        uint64_t word[4];
        for (int k = 0; k < 4; ++k) {
            word[k] = bytes_of(half + 2 * n * k, n) | bytes_of(half + 2 * n * k + n, n) << 4;
        }
        for (int k = 0; k < 3; ++k) {
            word[k] |= (word[3] >> k & 0x1111111111111111) << 3;
            memcpy(qs + TURBO3_WORD(n, h, k), &word[k], n);
        }
    }
}

static void pack(const struct turbo_format * f, const struct group_code * code, struct turbo_block_head * head) {
    uint8_t * qs = (uint8_t *) (head + 1);
    head->d = code->d;
    for (int q = 0; q < TURBO_SUBSCALES; ++q) { head->sub |= code->sub[q] << 4 * q; }
    if (f->n_levels == 8) {
        pack4(code, f->group, qs);
    } else if (f->group == TURBO_GROUP) {
        pack3(code, TURBO_GROUP / 16, qs);
    } else {
        pack3(code, TURBO_GROUP_64 / 16, qs);
    }
}

static int code4(const uint8_t * qs, int group, int v) {
    const int half = group / 2;
    return qs[v % half] >> (v < half ? 0 : 4) & 15;
}

static int code3(const uint8_t * qs, int group, int v) {
    const int n = group / 16;
    const int h = v / 16 % 2;
    const int u = v / 32 * 16 + v % 16;
    const int b = 4 * (u / n % 2);
    const int k = u / (2 * n);
    if (k < 3) { return qs[TURBO3_WORD(n, h, k) + u % n] >> b & 7; }
    int code = 0;
    for (int i = 0; i < 3; ++i) { code |= (qs[TURBO3_WORD(n, h, i) + u % n] >> (b + 3) & 1) << i; }
    return code;
}

void turbo_unpack(
    enum turbo_format_id id, const void * block, uint16_t * d, uint8_t sub[TURBO_SUBSCALES], int8_t * level) {
    const struct turbo_format * f = &turbo_formats[id];
    const struct turbo_block_head * head = block;
    const uint8_t * qs = (const uint8_t *) (head + 1);
    *d = head->d;
    for (int q = 0; q < TURBO_SUBSCALES; ++q) { sub[q] = head->sub >> 4 * q & 15; }
    if (f->trellis != NULL) {
        turbo_trellis_levels(f, qs, level);
        return;
    }
    for (int i = 0; i < f->group; ++i) {
        const int code = f->n_levels == 8 ? code4(qs, f->group, i) : code3(qs, f->group, i);
        const int size = f->levels[code % f->n_levels];
        level[i] = code < f->n_levels ? size : -size;
    }
}

void turbo_quantize_as(
    const struct turbo_kernels * kern, const struct turbo_format * f, const float * x, void * y, int64_t k) {
    assert(k % f->group == 0);
    struct turbo_branches branches;
    if (f->trellis != NULL) { turbo_trellis_branches(f->trellis, &branches); }
    for (uint8_t * block = y; k > 0; k -= f->group, block += f->block_size, x += f->group) {
        struct turbo_block_head * head = (struct turbo_block_head *) block;
        memset(block, 0, f->block_size);
        float a[TURBO_GROUP];
        if (!magnitudes_of(x, f->group, a)) {
            head->d = FP16_NAN;
            continue;
        }
        const float d = f->d_of_rms * root_mean_square(a, f->group);
        if (ggml_fp32_to_fp16(d) == 0) { continue; }
        if (f->trellis != NULL) {
            turbo_trellis_encode(kern, f, &branches, x, a, d, block);
        } else {
            struct group_code code;
            encode_group(kern, f, x, a, d, &code);
            pack(f, &code, head);
        }
    }
}

void turbo_quantize(const struct turbo_kernels * kern, enum turbo_format_id id, const float * x, void * y, int64_t k) {
    turbo_quantize_as(kern, &turbo_formats[id], x, y, k);
}
