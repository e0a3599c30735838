// Block formats of the integer kernels of decode, as templates over a SIMD level: how a block's levels come into registers in
// the two orders that decode-body.h describes. Included by it.
//
// emit_k(row, emit) calls emit(level, level, quarter, dword, dword) with dwords of the query, emit_v(row, emit)
// emit(level, chunk, t) where a chunk is 32 values in simd::CHUNK registers.

// sub-scales of simd::W positions as factors of integer products
struct multipliers {
    simd::I quarter[4];
};

template <typename BLOCK, int G> struct turbo_base {
    typedef BLOCK block;
    static const int GROUP    = G;
    static const int QUARTERS = 4;
    static const int LEVEL_MAX = 111;
    static const int MULT_MAX = TURBO_MULT(15);
    static const int ADDENDS  = 4; // of a 16-bit sum of products of K
    static constexpr float UNIT = TURBO_UNIT;

    static INLINE simd::I header(rows row) { return simd::dwords(row); }
    static INLINE simd::F scale (simd::I header)           { return simd::half_to_float(header); }
    static INLINE multipliers mult(simd::I header) {
        multipliers m;
        UNROLL for (int i = 0; i < 4; ++i) { m.quarter[i] = simd::multiplier(header, i); }
        return m;
    }
};

template <typename BLOCK, int G> struct format4 : turbo_base<BLOCK, G> {
    static const int DWORDS = G/8; // of qs

    static INLINE int value(int i) { return i; }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        const simd::I table = simd::table_k4();
        UNROLL for (int c0 = 0; c0 < DWORDS; c0 += 4) {
            simd::I col[4];
            simd::columns(row, offsetof(BLOCK, qs) + 4*c0, col);
            UNROLL for (int c = 0; c < 4; c += 2) {
                const int i = c0 + c;
                emit(simd::lookup(table, simd::low_nibbles (col[c])), simd::lookup(table, simd::low_nibbles (col[c + 1])),
                    i/(G/16), i, i + 1);
                emit(simd::lookup(table, simd::high_nibbles(col[c])), simd::lookup(table, simd::high_nibbles(col[c + 1])),
                    2 + i/(G/16), i + DWORDS, i + 1 + DWORDS);
            }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        const simd::I table = simd::table_v4();
        UNROLL for (int h = 0; h < G/64; ++h) {
            simd::I x[simd::CHUNK];
            simd::interleave(row, offsetof(BLOCK, qs) + 32*h, x);
            UNROLL for (int t = 0; t < simd::CHUNK; ++t) {
                emit(simd::lookup(table, simd::low_nibbles (x[t])), h,        t);
                emit(simd::lookup(table, simd::high_nibbles(x[t])), h + G/64, t);
            }
        }
    }
};

typedef format4<block_turbo4,    128> format_turbo4;
typedef format4<block_turbo4_64, 64>  format_turbo4_64;

// Index of the tables for 3 bits: sign in bit 0, magnitude in bits 1 and 2. Two indices are made at once, one in each nibble:
// of quarter i in the low one, of quarter i + 2 in the high one.
//
// A lane holds four values whose sign bits have the same place in their bytes, so one shift moves all of them.
struct format_turbo3 : turbo_base<block_turbo3, 128> {
    // byte k of dword 8*i + b is value 32*i + b + {0, 16, 8, 24}[k]
    static INLINE int value(int i) {
        const int k = i % 4;
        return 32*(i/32) + i/4 % 8 + 16*(k & 1) + 8*(k >> 1);
    }

    // levels of bit b in quarters i and i + 2; bit b % 4 of the nibbles are the signs
    struct two { simd::I low, high; };
    static INLINE two levels(simd::I table, simd::I q, simd::I nibbles, int i, int b) {
        const simd::I x = simd::indices3(simd::shift_right(q, 2*i - 1), simd::shift_right(nibbles, b % 4));
        return { simd::lookup(table, simd::low_index3(x)), simd::lookup(table, simd::high_index3(x)) };
    }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        const simd::I table = simd::table_k3();
        simd::I sign[4];
        simd::columns(row, offsetof(block_turbo3, sign), sign);
        simd::I nibbles[2][2]; // [b/4][i]
        UNROLL for (int i = 0; i < 2; ++i) {
            const simd::I a = simd::swap_inner_bytes(sign[i]);
            const simd::I c = simd::swap_inner_bytes(sign[i + 2]);
            nibbles[0][i] = simd::join_low_nibbles (a, c);
            nibbles[1][i] = simd::join_high_nibbles(a, c);
        }
        simd::I q[8];
        simd::columns_by_bit(row, offsetof(block_turbo3, qs), q);
        UNROLL for (int b = 0; b < 8; b += 2) {
            UNROLL for (int i = 0; i < 2; ++i) {
                const two x = levels(table, q[b],     nibbles[b/4][i], i, b);
                const two y = levels(table, q[b + 1], nibbles[b/4][i], i, b + 1);
                emit(x.low,  y.low,  i,     8*i + b,      8*i + b + 1);
                emit(x.high, y.high, i + 2, 8*i + b + 16, 8*i + b + 17);
            }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        const simd::I table = simd::table_v3();
        simd::I x[simd::CHUNK];
        simd::interleave(row, offsetof(block_turbo3, qs), x);
        simd::bits signs[4];
        simd::interleave_bits(row, offsetof(block_turbo3, sign), signs);
        UNROLL for (int i = 0; i < 2; ++i) {
            const simd::bits low  = simd::join_low_nibbles (signs[i], signs[i + 2]);
            const simd::bits high = simd::join_high_nibbles(signs[i], signs[i + 2]);
            UNROLL for (int t = 0; t < simd::CHUNK; ++t) {
                const simd::I index = simd::indices3(simd::shift_right(x[t], 2*i - 1), simd::sign_nibbles(low, high, t));
                emit(simd::lookup(table, simd::low_index3 (index)), i,     t);
                emit(simd::lookup(table, simd::high_index3(index)), i + 2, t);
            }
        }
    }
};

struct format_turbo3_64 : turbo_base<block_turbo3_64, 64> {
    // byte k of dword 4*i + b is value 16*i + b + {0, 8, 4, 12}[k]
    static INLINE int value(int i) {
        const int k = i % 4;
        return 16*(i/16) + i/4 % 4 + 8*(k & 1) + 4*(k >> 1);
    }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        const simd::I table = simd::table_k3();
        simd::I q[4];
        simd::columns_by_bit_64(row, offsetof(block_turbo3_64, qs), q);
        simd::I sign[4];
        simd::sign_columns_64(row, offsetof(block_turbo3_64, sign), sign);
        UNROLL for (int b = 0; b < 4; b += 2) {
            UNROLL for (int i = 0; i < 4; ++i) {
                emit(simd::lookup(table, simd::index3(simd::shift_right(q[b],     2*i - 1), simd::shift_right(sign[i], b))),
                     simd::lookup(table, simd::index3(simd::shift_right(q[b + 1], 2*i - 1), simd::shift_right(sign[i], b + 1))),
                     i, 4*i + b, 4*i + b + 1);
            }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        const simd::I table = simd::table_v3();
        simd::I x[simd::CHUNK];
        simd::bits signs[2];
        UNROLL for (int c = 0; c < 2; ++c) {
            simd::interleave_64(row, offsetof(block_turbo3_64, qs), 4*c, x);
            simd::interleave_bits_64(row, offsetof(block_turbo3_64, sign), signs);
            UNROLL for (int t = 0; t < simd::CHUNK; ++t) {
                emit(simd::lookup(table, simd::index3(simd::shift_right(x[t], -1), simd::sign_bits(signs[c], t))), c, t);
            }
        }
    }
};

struct format_q8_0 {
    typedef turbo_block_q8 block;
    static const int GROUP    = TURBO_Q8_BLOCK;
    static const int QUARTERS = 1;
    static const int LEVEL_MAX = 128;
    static const int MULT_MAX = 1;
    static const int ADDENDS  = 2;
    static constexpr float UNIT = 1.0f;

    static INLINE int         value (int i)                   { return i; }
    static INLINE simd::I     header(rows row) { return simd::dwords(row); }
    static INLINE simd::F     scale (simd::I header)          { return simd::half_to_float(header); }
    static INLINE multipliers mult  (simd::I)                 { return { { simd::ones() } }; }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        UNROLL for (int c0 = 0; c0 < 8; c0 += 4) {
            simd::I col[4];
            simd::columns(row, offsetof(block, qs) + 4*c0, col);
            UNROLL for (int c = 0; c < 4; c += 2) { emit(simd::bias_q8(col[c]), simd::bias_q8(col[c + 1]), 0, c0 + c, c0 + c + 1); }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        simd::I x[simd::CHUNK];
        simd::interleave(row, offsetof(block, qs), x);
        UNROLL for (int t = 0; t < simd::CHUNK; ++t) { emit(x[t], 0, t); }
    }
};
