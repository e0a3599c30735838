// Block formats of the integer kernels of decode, as templates over a SIMD level: how a block's levels come into registers in
// the two orders that decode-body.inl describes. Included after decode-x86.inl.
//
// emit_k(row, emit) calls emit(level, level, quarter, dword, dword) with dwords of the query, emit_v(row, emit)
// emit(level, chunk, t) where a chunk is 32 values in simd::CHUNK registers.

// sub-scales of simd::W positions as factors of integer products
struct multipliers {
    simd::M quarter[4];
};

template <typename BLOCK, int G> struct turbo_base {
    typedef BLOCK block;
    static const int GROUP = G;
    static const int QUARTERS = 4;
    static const int LEVEL_MAX = 111;
    static const int MULT_MAX = TURBO_MULT(15);
    static const int ADDENDS = 4; // of a 16-bit sum of products of K
    static constexpr float UNIT = TURBO_UNIT;

    static INLINE simd::I header(rows row) { return simd::dwords(row); }
    static INLINE vec scale(simd::I header) { return simd::half_to_float(header); }
    static INLINE vec scale_v(simd::I header) { return scale(header); }
    static INLINE multipliers mult(simd::I header) {
        multipliers m;
        UNROLL for (int i = 0; i < 4; ++i) { m.quarter[i] = simd::multiplier(header, i); }
        return m;
    }
};

template <typename BLOCK, int G> struct format4 : turbo_base<BLOCK, G> {
    static const int DWORDS = G / 8; // of qs

    static INLINE int value(int i) { return i; }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        const simd::I table = simd::table_k4();
        UNROLL for (int c0 = 0; c0 < DWORDS; c0 += 4) {
            simd::I col[4];
            simd::columns(row, offsetof(BLOCK, qs) + 4 * c0, col);
            UNROLL for (int c = 0; c < 4; c += 2) {
                const int i = c0 + c;
                emit(simd::lookup(table, simd::low_nibbles(col[c])), simd::lookup(table, simd::low_nibbles(col[c + 1])),
                    i / (G / 16), i, i + 1);
                emit(simd::lookup(table, simd::high_nibbles(col[c])),
                    simd::lookup(table, simd::high_nibbles(col[c + 1])), 2 + i / (G / 16), i + DWORDS, i + 1 + DWORDS);
            }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        const simd::I table = simd::table_v4();
        UNROLL for (int h = 0; h < G / 64; ++h) {
            simd::I x[simd::CHUNK];
            simd::interleave(row, offsetof(BLOCK, qs) + 32 * h, x);
            UNROLL for (int t = 0; t < simd::CHUNK; ++t) {
                emit(simd::lookup(table, simd::low_nibbles(x[t])), h, t);
                emit(simd::lookup(table, simd::high_nibbles(x[t])), h + G / 64, t);
            }
        }
    }
};

typedef format4<block_turbo4, 128> format_turbo4;
typedef format4<block_turbo4_64, 64> format_turbo4_64;

// The words of turbo-layout.h: `simd` takes codes from bits 0-2 and 4-6 of a register, and from the bits left over of three.
template <typename BLOCK, int G> struct format3 : turbo_base<BLOCK, G> {
    static const int N = G / 16; // bytes of a word
    static const int DWORDS = N / 4;

    // The two codes of a byte are in neighboring dwords of the query. Within 16 values: dword d of a word holds those from 4*d and,
    // in its high nibbles, from N + 4*d.
    static INLINE int value(int i) { return N == 4 ? i : (i & ~12) | (i & 4) << 1 | (i & 8) >> 1; }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        const simd::I table = simd::table_k3();
        const int qs = offsetof(BLOCK, qs);
        simd::I col[6 * DWORDS];
        UNROLL for (int c = 0; c + 4 <= 6 * DWORDS; c += 4) { simd::columns(row, qs + 4 * c, col + c); }
        if (DWORDS == 1) {
            simd::I last[4];
            simd::columns(row, qs + 8, last);
            col[4] = last[2];
            col[5] = last[3];
        }
        UNROLL for (int h = 0; h < 2; ++h) {
            UNROLL for (int d = 0; d < DWORDS; ++d) {
                const simd::I * words[3];
                UNROLL for (int k = 0; k < 3; ++k) { words[k] = col + TURBO3_WORD(DWORDS, h, k) + d; }
                UNROLL for (int k = 0; k < 4; ++k) {
                    const simd::I c =
                        k < 3 ? simd::codes3(*words[k]) : simd::spread_codes3(*words[0], *words[1], *words[2]);
                    const int first = 2 * N * k + 8 * d; // in the order of the query, of the half
                    const int dword = first / 16 * 8 + 4 * h + first % 16 / 4;
                    emit(simd::lookup(table, c), simd::lookup(table, simd::high_codes3(c)), dword / (G / 16), dword,
                        dword + 1);
                }
            }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        const simd::I table = simd::table_v3();
        simd::I word[3][2];
        simd::interleave_words<N>(row, offsetof(BLOCK, qs), word);
        const int registers = simd::word_registers<N>();
        UNROLL for (int d = 0; d < registers; ++d) {
            UNROLL for (int k = 0; k < 4; ++k) {
                const simd::I c =
                    k < 3 ? simd::codes3(word[k][d]) : simd::spread_codes3(word[0][d], word[1][d], word[2][d]);
                simd::emit_codes3<N>(table, c, 2 * N * k + simd::W / 2 * d, emit);
            }
        }
    }
};

typedef format3<block_turbo3, 128> format_turbo3;
typedef format3<block_turbo3_64, 64> format_turbo3_64;

// Types with a trellis, N codes for four values: the levels of a word of codes are two lookups, of these and of the word before.
template <typename BLOCK, int G, int N> struct format_trellis : turbo_base<BLOCK, G> {
    static const int LEVEL_MAX = TURBO_TCQ_LEVEL_MAX;
    static const int WORDS = N * G / 64; // of a quarter
    static const int TABLES = N == 4 ? 1 : 4;

    static INLINE int value(int i) { return i; }
    static constexpr int word_of(int e) { return N == 4 ? e : 3 * (e / 4) + (e % 4 < 2 ? e % 4 : 2); }
    static INLINE const int8_t * own(int e) { return N == 4 ? turbo4_tcq_own[0] : turbo3_tcq_own[e]; }
    static INLINE const int8_t * before(int e) { return N == 4 ? turbo4_tcq_before[0] : turbo3_tcq_before[e]; }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        simd::I table[TABLES];
        simd::I table_before[TABLES];
        UNROLL for (int e = 0; e < TABLES; ++e) {
            table[e] = simd::table16(own(e), LEVEL_MAX);
            table_before[e] = simd::table16(before(e), 0);
        }
        simd::I col[2 * WORDS];
        UNROLL for (int c = 0; c + 4 <= 2 * WORDS; c += 4) { simd::columns(row, offsetof(BLOCK, qs) + 4 * c, col + c); }
        if (2 * WORDS % 4 != 0) {
            simd::I last[4];
            simd::columns(row, offsetof(BLOCK, qs) + 8 * WORDS - 16, last);
            col[2 * WORDS - 2] = last[2];
            col[2 * WORDS - 1] = last[3];
        }
        UNROLL for (int q = 0; q < 4; ++q) {
            const simd::I * word = col + q % 2 * WORDS;
            simd::I code[WORDS + 1]; // the word before them, and the words of the quarter
            code[0] = simd::nibbles(simd::next_lane(word[WORDS - 1]), q / 2);
            UNROLL for (int w = 0; w < WORDS; ++w) { code[w + 1] = simd::nibbles(word[w], q / 2); }
            UNROLL for (int e = 0; e < G / 16; e += 2) {
                simd::I level[2];
                UNROLL for (int i = 0; i < 2; ++i) {
                    const int w = word_of(e + i);
                    const int t = (e + i) % TABLES;
                    level[i] =
                        simd::add_epi8(simd::lookup(table[t], code[w + 1]), simd::lookup(table_before[t], code[w]));
                }
                emit(level[0], level[1], q, G / 16 * q + e, G / 16 * q + e + 1);
            }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        simd::I table[simd::CHUNK];
        simd::I table_before[simd::CHUNK];
        simd::tables_of_chunk(own(0), own(1), own(2), own(3), table);
        simd::tables_of_chunk(before(0), before(1), before(2), before(3), table_before);
        UNROLL for (int h = 0; h < G / 64; ++h) {
            simd::I word[simd::CHUNK];
            simd::I word_before[simd::CHUNK];
            simd::interleave_ring<G, N>(row, offsetof(BLOCK, qs) + 4 * WORDS * h, word, word_before);
            UNROLL for (int high = 0; high < 2; ++high) {
                UNROLL for (int t = 0; t < simd::CHUNK; ++t) {
                    emit(simd::add_epi8(simd::lookup(table[t], simd::nibbles(word[t], high)),
                             simd::lookup(table_before[t], simd::nibbles(word_before[t], high))),
                        h + high * (G / 64), t);
                }
            }
        }
    }
};

typedef format_trellis<block_turbo4_tcq, 128, 4> format_turbo4_tcq;
typedef format_trellis<block_turbo3_tcq, 128, 3> format_turbo3_tcq;
typedef format_trellis<block_turbo4_tcq_64, 64, 4> format_turbo4_tcq_64;
typedef format_trellis<block_turbo3_tcq_64, 64, 3> format_turbo3_tcq_64;

struct format_q8_0 {
    typedef block_q8_0 block;
    static const int GROUP = QK8_0;
    static const int QUARTERS = 1;
    static const int LEVEL_MAX = 128;
    static const int MULT_MAX = 1;
    static const int ADDENDS = 2;
    static constexpr float UNIT = 1.0f;

    static INLINE int value(int i) { return i; }
    static INLINE simd::I header(rows row) { return simd::dwords(row); }
    static INLINE vec scale(simd::I header) { return simd::half_to_float(header); }
    static INLINE vec scale_v(simd::I header) { return scale(header); }
    static INLINE multipliers mult(simd::I) { return { { simd::one() } }; }

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        UNROLL for (int c0 = 0; c0 < 8; c0 += 4) {
            simd::I col[4];
            simd::columns(row, offsetof(block, qs) + 4 * c0, col);
            UNROLL for (int c = 0; c < 4; c += 2) {
                emit(simd::bias_q8(col[c]), simd::bias_q8(col[c + 1]), 0, c0 + c, c0 + c + 1);
            }
        }
    }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        simd::I x[simd::CHUNK];
        simd::interleave(row, offsetof(block, qs), x);
        UNROLL for (int t = 0; t < simd::CHUNK; ++t) { emit(x[t], 0, t); }
    }
};

// Types of ggml with 32 values and an fp16 d before them, which may be negative: weights of V may not, so that emit_v gives its
// sign to the levels, whose bytes decode-rows.inl has.
template <typename BLOCK, typename LEVELS> struct signed_base {
    typedef BLOCK block;
    static const int GROUP = QK4_0;
    static const int QUARTERS = 1;
    static const int MULT_MAX = 1;
    static constexpr float UNIT = 1.0f;

    static INLINE int value(int i) { return i; }
    static INLINE simd::I header(rows row) { return simd::dwords(row); }
    static INLINE vec scale(simd::I header) { return simd::half_to_float(header); }
    static INLINE vec scale_v(simd::I header) { return simd::half_to_float(simd::half_size(header)); }
    static INLINE multipliers mult(simd::I) { return { { simd::one() } }; }

    template <typename EMIT> static INLINE void emit_v(rows row, EMIT emit) {
        simd::I x[simd::CHUNK];
        simd::interleave_levels<LEVELS>(row, x);
        UNROLL for (int t = 0; t < simd::CHUNK; ++t) { emit(x[t], 0, t); }
    }
};

// the codes are levels with a bias of LEVEL_MAX
struct format_q4_0 : signed_base<block_q4_0, levels_q4_0> {
    static const int LEVEL_MAX = 8;
    static const int ADDENDS = 4; // at no loss: codes are below 16, so that sum_limit is far off

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        simd::I col[4];
        simd::columns(row, offsetof(block, qs), col);
        UNROLL for (int c = 0; c < 4; c += 2) {
            emit(simd::low_nibbles(col[c]), simd::low_nibbles(col[c + 1]), 0, c, c + 1);
            emit(simd::high_nibbles(col[c]), simd::high_nibbles(col[c + 1]), 0, c + 4, c + 5);
        }
    }
};

struct format_q5_0 : signed_base<block_q5_0, levels_q5_0> {
    static const int LEVEL_MAX = 16;
    static const int ADDENDS = 4; // as in q4_0

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        const simd::I qh = simd::dwords({ row.data + offsetof(block, qh), row.stride });
        simd::I col[4];
        simd::columns(row, offsetof(block, qs), col);
        UNROLL for (int c = 0; c < 4; c += 2) {
            emit(simd::either(simd::low_nibbles(col[c]), simd::bit4(qh, c)),
                simd::either(simd::low_nibbles(col[c + 1]), simd::bit4(qh, c + 1)), 0, c, c + 1);
            emit(simd::either(simd::high_nibbles(col[c]), simd::bit4(qh, c + 4)),
                simd::either(simd::high_nibbles(col[c + 1]), simd::bit4(qh, c + 5)), 0, c + 4, c + 5);
        }
    }
};

struct format_iq4_nl : signed_base<block_iq4_nl, levels_iq4_nl> {
    static const int LEVEL_MAX = 128;
    static const int ADDENDS = 2; // as in q8_0: the levels use all of a byte

    template <typename EMIT> static INLINE void emit_k(rows row, EMIT emit) {
        const simd::I table = simd::table_iq4();
        simd::I col[4];
        simd::columns(row, offsetof(block, qs), col);
        UNROLL for (int c = 0; c < 4; c += 2) {
            emit(simd::lookup(table, simd::low_nibbles(col[c])), simd::lookup(table, simd::low_nibbles(col[c + 1])), 0,
                c, c + 1);
            emit(simd::lookup(table, simd::high_nibbles(col[c])), simd::lookup(table, simd::high_nibbles(col[c + 1])),
                0, c + 4, c + 5);
        }
    }
};
