#version 450
// Attention of few rows over a cache of turbo types, as decode.comp, for GPUs whose matrices of 16x8x16 are dealt out to the lanes of a
// subgroup of 32 as those of NVIDIA's mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"), each lane's elements in the order below:
// Vulkan leaves both open, so the engine tries this kernel before it uses it (native/vulkan/app.cpp).
//
// Then a lane can expand the codes that it reads right into its part of a matrix, and nothing of a tile goes through shared memory. Which
// value of a block is which row or column of a matrix is free, as long as queries and the result follow: here each lane needs whole words
// of codes, and the two codes of a byte are neighbors. Lane 4*g + t holds, in this order,
//   of A, 16x16:       rows g and g + 8, of each the columns 2*t, 2*t + 1, 2*t + 8, 2*t + 9;
//   of B, 16x8:        rows 2*t, 2*t + 1, 2*t + 8, 2*t + 9 of column g;
//   of a sum, 16x8:    rows g and g + 8, of each the columns 2*t and 2*t + 1.
// Scores are K Qᵀ: positions by heads. Sums are Vᵀ Pᵀ: values by heads. So heads are the columns, 8 in one matrix or 16 in two.

#extension GL_EXT_control_flow_attributes : enable
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int32 : require
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#extension GL_KHR_shader_subgroup_vote : enable
#extension GL_KHR_memory_scope_semantics : enable
#extension GL_KHR_cooperative_matrix : enable

#define STATE_ROWS Br
#include "decode.glsl"

#define MATRIX_A coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define MATRIX_B coopmat<float16_t, gl_ScopeSubgroup, 16, 8, gl_MatrixUseB>
#define MATRIX_C coopmat<float, gl_ScopeSubgroup, 16, 8, gl_MatrixUseAccumulator>

const uint COLUMNS = Br/8; // matrices of heads

// Eight codes are a code word: a word of turbo4; of the 32 codes in three words of turbo3 a quarter. A block of K is dealt out to the four
// t, one of V to the eight g.
const uint K_CODES = HSK/32; // code words of a lane
const uint V_CODES = HSV/64;

const uint Q_STRIDE = HSK + 8; // the padding keeps rows off each other's banks
const uint O_STRIDE = 64 + 4;

shared float16_t q_sh[Br*Q_STRIDE];
shared float     out_sh[SUBGROUPS*Br*O_STRIDE]; // [row][16*matrix + row of it], 64 values of each row at a time

// Word i of those that lane `at` of `n` reads of a block at `base`, for its `codes` code words.
uint word_at(bool four, uint group, uint base, uint at, uint n, uint codes, uint i) {
    return base + 1u + (four ? at + n*i : turbo3_word(group, at*codes/4u, i));
}
#define WORDS(four, codes) ((four) ? (codes) : 3u) // so many

// Which quarter of its unit code word j of a lane is.
uint part_of(uint at, uint codes, uint j) {
    return codes == 4u ? j : codes == 2u ? 2u*(at%2u) + j : at%4u;
}

// Code word j of a lane, from its words.
uint code_word(bool four, uint at, uint codes, uint j, uint words[4]) {
    if (four) {
        return words[j];
    }
    const uint fourth = turbo3_fourth(uvec3(words[0], words[1], words[2]));
    if (codes == 4u) {
        return j < 3u ? words[j] : fourth;
    }
    const uint even = j == 0u ? words[0] : words[1];
    const uint odd  = j == 0u ? words[2] : fourth;
    if (codes == 2u) {
        return at%2u == 0u ? even : odd;
    }
    return at%4u == 0u ? words[0] : at%4u == 1u ? words[1] : at%4u == 2u ? words[2] : fourth;
}

// The quarter of a block (blocks.glsl) that the first codes of the bytes of code word j are of; the second ones are of the same with
// turbo3, of the second after it with turbo4.
uint quarter_of(bool four, uint group, uint at, uint n, uint codes, uint j) {
    if (four) {
        return n <= group/16u ? n*j/(group/16u) : at/(group/16u);
    }
    return group == 128u ? part_of(at, codes, j) : part_of(at, codes, j)/2u*2u + at*codes/4u;
}

// Vector v (four values) of a block: the codes of one half of a code word. x: lane; y: which of its code words; z: which codes of the bytes.
uvec3 place_of(bool four, uint group, uint n, uint codes, uint v) {
    if (four) {
        const uint word = v%(group/8u);
        return uvec3(word%n, word/n, v/(group/8u));
    }
    const uvec3 at = turbo3_place(group, v);
    const uint word = 4u*at.x + at.y;
    return uvec3(word/codes, word%codes, at.z);
}

// The factors of two quarters without d (turbo_factor), whose scales lie in bits 3 to 6 of the halves: 1024 + 135 + 8*s is exact in fp16.
f16vec2 factors(uint scales) {
    return unpackFloat2x16(scales + 0x64876487u)*float16_t(1.0/8192.0) - float16_t(0.125);
}

void main() {
    init_indices();
    lane = gl_SubgroupInvocationID;
    sub  = gl_SubgroupID;
    const uint g = lane/4;
    const uint t = lane%4;

    const uint k_offset = k_start();
    const uint v_offset = v_start();
    const uint m_offset = m_start();

    // of rows 8*c + 2*t + r, at [2*c + r]
    float m[2*COLUMNS], l[2*COLUMNS], slope[2*COLUMNS];
    [[unroll]] for (uint r = 0; r < 2*COLUMNS; ++r) {
        m[r] = LOWEST;
        l[r] = 0.0;
        slope[r] = p.max_bias > 0.0 ? perElemOpComputeSlope(8*(r/2) + 2*t + r%2, 0u, 0.0, iq2) : 1.0;
    }
    MATRIX_C sums[HSV/16][COLUMNS];
    [[unroll]] for (uint d = 0; d < HSV/16; ++d) {
        [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
            sums[d][c] = MATRIX_C(0.0);
        }
    }

    // what the next tile needs is on its way while this one is computed; behind the last one nothing that is not read anyway
    const uint last = min(end_j*Bc, KV);
    uint first = start_j*Bc + sub*TILE;
    uint k_words[2][4], k_head[2];  // of positions g and g + 8
    uint v_words[4][4], v_head[4];  // of positions 2*t, 2*t + 1, 2*t + 8, 2*t + 9
    float16_t bias[2];              // of positions g and g + 8, the same for all heads of a token
#define READ_K(first)                                                                                     \
    [[unroll]] for (uint i = 0; i < 2; ++i) {                                                             \
        const uint base = (k_offset + min((first) + g + 8*i, last - 1u)*k_stride)*K_WORDS;                \
        k_head[i] = data_k[base];                                                                         \
        [[unroll]] for (uint j = 0; j < WORDS(K_FOUR, K_CODES); ++j) {                                    \
            k_words[i][j] = data_k[word_at(K_FOUR, HSK, base, t, 4u, K_CODES, j)];                        \
        }                                                                                                 \
    }
#define READ_V(first)                                                                                     \
    [[unroll]] for (uint i = 0; i < 4; ++i) {                                                             \
        const uint base = (v_offset + min((first) + 2*t + i%2 + 8*(i/2), last - 1u)*v_stride)*V_WORDS;    \
        v_head[i] = data_v[base];                                                                         \
        [[unroll]] for (uint j = 0; j < WORDS(V_FOUR, V_CODES); ++j) {                                    \
            v_words[i][j] = data_v[word_at(V_FOUR, HSV, base, g, 8u, V_CODES, j)];                        \
        }                                                                                                 \
    }
#define READ_BIAS(first)                                                                                  \
    if (MASK_ENABLE) {                                                                                    \
        [[unroll]] for (uint i = 0; i < 2; ++i) {                                                         \
            bias[i] = data_m[m_offset + min((first) + g + 8*i, last - 1u)];                               \
        }                                                                                                 \
    }
    READ_K(first)
    READ_V(first)
    READ_BIAS(first)
    make_table();
    [[dont_unroll]] for (uint row = sub; row < Br; row += SUBGROUPS) {
        vec4 query[K_VECTORS];
        READ_QUERY(row, query)
        [[unroll]] for (uint c = 0; c < K_VECTORS; ++c) {
            const uint v = c*LANES + lane;
            if (v < HSK/4) {
                const uvec3 at = place_of(K_FOUR, HSK, 4u, K_CODES, v);
                [[unroll]] for (uint i = 0; i < 4; ++i) {
                    q_sh[row*Q_STRIDE + 16*(2*at.y + i/2) + 2*at.x + at.z + 8*(i%2)] = float16_t(query[c][i]);
                }
            }
        }
    }
    barrier();
    MATRIX_B query[HSK/16][COLUMNS];
    [[unroll]] for (uint d = 0; d < HSK/16; ++d) {
        [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
            coopMatLoad(query[d][c], q_sh, 8*c*Q_STRIDE + 16*d, Q_STRIDE, gl_CooperativeMatrixLayoutColumnMajor);
        }
    }

    [[dont_unroll]] for (; first < last; first += SUBGROUPS*TILE) {
        const uint following = first + SUBGROUPS*TILE;

        // K, in two chains of products
        MATRIX_C products[2][COLUMNS];
        [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
            products[0][c] = MATRIX_C(0.0);
            products[1][c] = MATRIX_C(0.0);
        }
        const float d[2] = float[2](turbo_d(k_head[0]), turbo_d(k_head[1]));
        [[unroll]] for (uint j = 0; j < K_CODES; ++j) {
            const uint quarter = 13u + 4u*quarter_of(K_FOUR, HSK, t, 4u, K_CODES, j);
            uint codes[2];
            f16vec2 steps[2];
            [[unroll]] for (uint i = 0; i < 2; ++i) {
                codes[i] = code_word(K_FOUR, t, K_CODES, j, k_words[i]);
                const uint one = k_head[i] >> quarter & 0x78u;
                steps[i] = factors(one | (K_FOUR ? k_head[i] >> quarter + 8u & 0x78u : one) << 16);
            }
            [[unroll]] for (uint h = 0; h < 2; ++h) {
                MATRIX_A keys;
                [[unroll]] for (uint i = 0; i < 4; ++i) {
                    const f16vec2 two = levels(0u, codes[i/2], 2*h + i%2)*steps[i/2];
                    keys[2*i]     = two.x;
                    keys[2*i + 1] = two.y;
                }
                [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
                    products[h][c] = coopMatMulAdd(keys, query[2*j + h][c], products[h][c]);
                }
            }
        }
        READ_K(following)

        // softmax
        float biases[2][2*COLUMNS];
        [[unroll]] for (uint i = 0; i < 2*2*COLUMNS; ++i) {
            biases[i%2][i/2] = MASK_ENABLE ? float(bias[i%2]) : 0.0;
        }
        if (MASK_ENABLE && m_stride != 0) { // rows are tokens
            [[unroll]] for (uint i = 0; i < 2*2*COLUMNS; ++i) {
                const uint row = min(8*(i/4) + 2*t + i/2%2, N - 1u);
                biases[i%2][i/2] = float(data_m[m_offset + row*m_stride + min(first + g + 8*(i%2), KV - 1u)]);
            }
        }
        float score[2][2*COLUMNS], top[2*COLUMNS];
        bool rises = false;
        [[unroll]] for (uint r = 0; r < 2*COLUMNS; ++r) {
            top[r] = LOWEST;
            [[unroll]] for (uint i = 0; i < 2; ++i) {
                float s = (products[0][r/2][2*i + r%2] + products[1][r/2][2*i + r%2])*d[i];
                if (LOGIT_SOFTCAP) {
                    s = p.logit_softcap*tanh(s);
                }
                if (MASK_ENABLE) {
                    s += slope[r]*biases[i][r];
                }
                score[i][r] = first + g + 8*i < last ? s : -1.0/0.0;
                top[r] = max(top[r], score[i][r]);
            }
            rises = rises || top[r] > m[r] + SLACK;
        }
        READ_BIAS(following)
        // rare: the sums are brought to a new maximum
        if (subgroupAny(rises)) {
            [[unroll]] for (uint r = 0; r < 2*COLUMNS; ++r) {
                [[unroll]] for (uint o = 4; o < 32; o *= 2) {
                    top[r] = max(top[r], subgroupShuffleXor(top[r], o));
                }
                const float next   = top[r] > m[r] + SLACK ? top[r] : m[r];
                const float factor = exp(m[r] - next);
                m[r] = next;
                l[r] *= factor;
                [[unroll]] for (uint k = 0; k < HSV/16; ++k) {
                    sums[k][r/2][r%2]     *= factor;
                    sums[k][r/2][r%2 + 2] *= factor;
                }
            }
        }
        MATRIX_B weights[COLUMNS];
        [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
            [[unroll]] for (uint i = 0; i < 2; ++i) {
                const vec2 w = exp(vec2(score[i][2*c] - m[2*c], score[i][2*c + 1] - m[2*c + 1]));
                l[2*c]     += w.x;
                l[2*c + 1] += w.y;
                // transposed: of head g the positions 2*t + 8*i and the next
                const uint mine = packHalf2x16(w);
                const uint a = subgroupShuffle(mine, 8*t + g/2);
                const uint b = subgroupShuffle(mine, 8*t + 4 + g/2);
                const f16vec2 two = unpackFloat2x16(g%2 == 0 ? (a & 0xFFFFu) | b << 16 : a >> 16 | (b & 0xFFFF0000u));
                weights[c][2*i]     = two.x;
                weights[c][2*i + 1] = two.y;
            }
        }

        // V: the codes of two positions are put together, so that a byte has the same value of both
        [[unroll]] for (uint j = 0; j < V_CODES; ++j) {
            const uint quarter = 13u + 4u*quarter_of(V_FOUR, HSV, g, 8u, V_CODES, j);
            uint codes[2][2];
            f16vec2 steps[2][2]; // [codes of a byte][positions]
            [[unroll]] for (uint i = 0; i < 2; ++i) {
                const uint a = code_word(V_FOUR, g, V_CODES, j, v_words[2*i]);
                const uint b = code_word(V_FOUR, g, V_CODES, j, v_words[2*i + 1]);
                codes[0][i] = (a & 0x0F0F0F0Fu) | (b & 0x0F0F0F0Fu) << 4;
                codes[1][i] = (a >> 4 & 0x0F0F0F0Fu) | (b & 0xF0F0F0F0u);
                const uint head_a = v_head[2*i], head_b = v_head[2*i + 1];
                const f16vec2 ds = unpackFloat2x16((head_a & 0xFFFFu) | head_b << 16);
                steps[0][i] = ds*factors((head_a >> quarter & 0x78u) | (head_b >> quarter & 0x78u) << 16);
                steps[1][i] = steps[0][i];
                if (V_FOUR) {
                    steps[1][i] = ds*factors((head_a >> quarter + 8u & 0x78u) | (head_b >> quarter + 8u & 0x78u) << 16);
                }
            }
            [[unroll]] for (uint y = 0; y < 4; ++y) {
                MATRIX_A values;
                [[unroll]] for (uint i = 0; i < 4; ++i) {
                    const f16vec2 two = levels(V_TABLE, codes[i/2][i%2], y)*steps[i/2][i%2];
                    values[2*i]     = two.x;
                    values[2*i + 1] = two.y;
                }
                [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
                    sums[4*j + y][c] = coopMatMulAdd(values, weights[c], sums[4*j + y][c]);
                }
            }
        }
        READ_V(following)
    }

    // the subgroups joined
    [[unroll]] for (uint r = 0; r < 2*COLUMNS; ++r) {
        [[unroll]] for (uint o = 4; o < 32; o *= 2) {
            l[r] += subgroupShuffleXor(l[r], o);
        }
        state_sh[sub*STATE_ROWS + 8*(r/2) + 2*t + r%2] = vec2(m[r], l[r]);
    }
    barrier();
    join_states();
    barrier();
    vec4 joined[ROWS][V_VECTORS];
    [[unroll]] for (uint j = 0; j < V_CODES; ++j) {
        [[unroll]] for (uint d = 0; d < 4; ++d) {
            [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
                coopMatStore(sums[4*j + d][c], out_sh, (sub*Br + 8*c)*O_STRIDE + 16*d, O_STRIDE, gl_CooperativeMatrixLayoutColumnMajor);
            }
        }
        barrier();
        [[unroll]] for (uint k = 0; k < ROWS; ++k) {
            const uint row = k*SUBGROUPS + sub;
            [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {
                const uint v = c*LANES + lane;
                const uvec3 at = place_of(V_FOUR, HSV, 8u, V_CODES, v);
                if (j == 0) {
                    joined[k][c] = vec4(0.0);
                }
                if (at.y == j && v < HSV/4 && row < N) {
                    [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
                        const uint from = (s*Br + row)*O_STRIDE + at.x + 8*at.z;
                        joined[k][c] += factor_sh[s*STATE_ROWS + row]*vec4(out_sh[from], out_sh[from + 16], out_sh[from + 32], out_sh[from + 48]);
                    }
                }
            }
        }
        barrier();
    }
    WRITE_ROWS(joined)
}
