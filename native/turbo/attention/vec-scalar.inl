// One float as a vector of WIDTH values: what the names of vec-*.inl mean. Included within a level's anonymous namespace,
// after INLINE and, but here, the header of the level's intrinsics.

typedef float vec;
constexpr int WIDTH = 1;

INLINE vec load(const float * p) { return *p; }
INLINE void store(float * p, vec x) { *p = x; }
INLINE vec set1(float x) { return x; } // in all lanes
INLINE float first(vec x) { return x; } // lane 0
INLINE vec add(vec a, vec b) { return a + b; }
INLINE vec sub(vec a, vec b) { return a - b; }
INLINE vec mul(vec a, vec b) { return a * b; }
INLINE vec div(vec a, vec b) { return a / b; }
INLINE vec fma(vec a, vec b, vec c) { return a * b + c; } // rounded once where the level has such an instruction
INLINE vec max2(vec a, vec b) { return a > b ? a : b; } // b when either is a NaN
INLINE vec min2(vec a, vec b) { return a < b ? a : b; } // so here
INLINE float reduce_max(vec x) { return x; }
INLINE float reduce_add(vec x) { return x; }
INLINE float from_f16(uint16_t h) { return ggml_fp16_to_fp32(h); }
INLINE vec load_f16(const void * p) { return from_f16(*(const uint16_t *) p); } // WIDTH of them
INLINE vec keep_unless_hidden(vec x, vec s) { return s == -INFINITY ? 0.0f : x; }
INLINE vec hide(vec x, vec m) { return m == -INFINITY ? m : x; }

// 2^n for whole n in -126 .. 126
INLINE vec pow2(vec n) {
    const int32_t bits = (int32_t) ((uint32_t) (n == n ? (int) n + 127 : 127) << 23);
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// Levels with SIMD have more: fnma(a, b, c) = c - a*b, rounded once; round_even; zero_below(x, s, low), x or 0 where s < low;
// times_pow2(x, n), x*2^n; and sixteen `bytes`: load_bytes, low_nibbles, high_nibbles, minus8, store_bytes (times d, as floats).
