// Four floats for NEON (AArch64): the names of vec-scalar.inl.

typedef float32x4_t vec;
constexpr int WIDTH = 4;

INLINE vec load(const float * p) { return vld1q_f32(p); }
INLINE void store(float * p, vec x) { vst1q_f32(p, x); }
INLINE vec set1(float x) { return vdupq_n_f32(x); }
INLINE float first(vec x) { return vgetq_lane_f32(x, 0); }
INLINE vec add(vec a, vec b) { return vaddq_f32(a, b); }
INLINE vec sub(vec a, vec b) { return vsubq_f32(a, b); }
INLINE vec mul(vec a, vec b) { return vmulq_f32(a, b); }
INLINE vec div(vec a, vec b) { return vdivq_f32(a, b); }
INLINE vec fma(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); }
INLINE vec fnma(vec a, vec b, vec c) { return vfmsq_f32(c, a, b); }
INLINE vec max2(vec a, vec b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
INLINE vec min2(vec a, vec b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
INLINE float from_f16(uint16_t h) { return turbo_neon_f16(h); }
INLINE vec load_f16(const void * p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16((const uint16_t *) p))); }
INLINE vec round_even(vec x) { return vrndnq_f32(x); }
INLINE float reduce_max(vec x) { return vmaxvq_f32(x); }
INLINE float reduce_add(vec x) { return vaddvq_f32(x); }

INLINE vec zero_below(vec x, vec s, vec low) {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(x), vcltq_f32(s, low)));
}

INLINE vec times_pow2(vec x, vec n) {
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(x), vshlq_n_s32(vcvtnq_s32_f32(n), 23)));
}

INLINE vec pow2(vec n) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127)), 23));
}

INLINE uint32x4_t is_hidden(vec x) { return vceqq_f32(x, set1(-INFINITY)); }

INLINE vec keep_unless_hidden(vec x, vec s) {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(x), is_hidden(s)));
}

INLINE vec hide(vec x, vec m) { return vbslq_f32(is_hidden(m), m, x); }

typedef int8x16_t bytes;

INLINE bytes load_bytes(const void * p) { return vld1q_s8((const int8_t *) p); }
INLINE bytes low_nibbles(bytes x) { return vandq_s8(x, vdupq_n_s8(15)); }
INLINE bytes high_nibbles(bytes x) { return vreinterpretq_s8_u8(vshrq_n_u8(vreinterpretq_u8_s8(x), 4)); }
INLINE bytes minus8(bytes x) { return vsubq_s8(x, vdupq_n_s8(8)); }

INLINE void store_bytes(bytes x, float d, float * y) { turbo_neon_store(x, d, y); }
