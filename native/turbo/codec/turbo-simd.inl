// What every SIMD level makes of its registers: decoding, dot products, and the last step of the quantizer. Included at the end of a
// level's file, which has defined
//   LEVEL                      name of the level
//   CHUNK                      values that are decoded at a time: 16, 32 or 64
//   levels                     their signed levels, a byte each
//   levels_turbo4(b, i) ...    those of values CHUNK*i .. of a block, for every format
//   store_levels(l, step, y)   y = step[k/16]*level k
//   sums                       partial sums of a dot product: clear(), fold()
//   add_products(s, i, l, q, step)   adds step[k/16]*level k*q[k], of chunk i
//   floats, FLOATS             a vector of floats, and its values: loadu, mul, set1
//   store_counts(v, t, n, idx)       idx: number of the thresholds t[0 .. n - 1] below each of v, as bytes
//   half(bits)                 fp16
//   search, paths              struct turbo_kernels

INLINE void assign_n(const struct turbo_format * f, int n_levels, const float * a, float scale, uint8_t * idx) {
    floats threshold[7];
    for (int k = 0; k + 1 < n_levels; ++k) { threshold[k] = set1(0.5f * (f->levels[k] + f->levels[k + 1])); }
    const floats inv = set1(1.0f / scale);
    for (int i = 0; i < f->quarter; i += FLOATS) {
        store_counts(mul(loadu(a + i), inv), threshold, n_levels - 1, idx + i);
    }
}

static void assign(const struct turbo_format * f, const float * a, float scale, uint8_t * idx) {
    if (f->n_levels == 8) {
        assign_n(f, 8, a, scale, idx);
    } else {
        assign_n(f, 4, a, scale, idx);
    }
}

// steps of the values of chunk i of a block, one for each 16. unit: of each 32 values, since a dot product's other side has such blocks
INLINE void steps_of(const float * unit, uint16_t sub, int i, int quarter, float * step) {
    for (int p = 0; p < CHUNK / 16; ++p) {
        const int first = CHUNK * i + 16 * p;
        step[p] = unit[p / 2] * TURBO_MULT(sub >> 4 * (first / quarter) & 15);
    }
}

#define UNITS (CHUNK < 32 ? 1 : CHUNK / 32) // of a chunk

#define DECODE_FUNCTIONS(ID, name, group) \
    static void to_float_##name(const void * x, float * y, int64_t k) { \
        for (const block_##name * b = x; k > 0; k -= (group), ++b) { \
            float unit[UNITS]; \
            for (int u = 0; u < UNITS; ++u) { unit[u] = half(b->d) * TURBO_UNIT; } \
            for (int i = 0; i < (group) / CHUNK; ++i, y += CHUNK) { \
                float step[CHUNK / 16]; \
                steps_of(unit, b->sub, i, (group) / 4, step); \
                store_levels(levels_##name(b, i), step, y); \
            } \
        } \
    } \
    static void vec_dot_##name( \
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) { \
        (void) bs; \
        (void) bx; \
        (void) by; \
        (void) nrc; \
        const turbo_block_q8 * q = vy; \
        sums sum = clear(); \
        for (const block_##name * b = vx; n > 0; n -= (group), ++b, q += (group) / TURBO_Q8_BLOCK) { \
            const float d = half(b->d) * TURBO_UNIT; \
            for (int i = 0; i < (group) / CHUNK; ++i) { \
                const turbo_block_q8 * q8 = q + CHUNK * i / TURBO_Q8_BLOCK; \
                float unit[UNITS]; \
                float step[CHUNK / 16]; \
                for (int u = 0; u < UNITS; ++u) { unit[u] = d * half(q8[u].d); } \
                steps_of(unit, b->sub, i, (group) / 4, step); \
                sum = add_products(sum, i, levels_##name(b, i), q8, step); \
            } \
        } \
        *s = fold(sum); \
    }

TURBO_EACH_TYPE(DECODE_FUNCTIONS)

#define KERNELS \
    { \
        .level = LEVEL, \
        .search = search, \
        .assign = assign, \
        .paths = paths, \
        .to_float = { TURBO_EACH_TYPE(TURBO_TO_FLOAT) }, \
        .vec_dot = { TURBO_EACH_TYPE(TURBO_VEC_DOT) }, \
    }
