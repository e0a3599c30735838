#version 450
// Attention of few rows (the heads of a group, or some tokens) over a cache of turbo types: each block is expanded once, for all rows.
// Any GPU with subgroups and fp16; decode-fragments.comp is the one for GPUs whose matrices lie in registers as it wants them.
//
// Inside a tile: expand K, scores, softmax, expand V, sums, each through shared memory. With COOPMAT the products are 16x16x16 matrices in
// fp16, added up in fp32; without, each value of a tile is read from shared memory once for each row.
//
// A tile of K holds level * factor (blocks.glsl) in fp16, and d goes to the score in fp32; one of V holds its values in fp16.

#extension GL_EXT_control_flow_attributes : enable
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int32 : require
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#extension GL_KHR_shader_subgroup_vote : enable
#extension GL_KHR_memory_scope_semantics : enable
#ifdef COOPMAT
#extension GL_KHR_cooperative_matrix : enable
#endif

#define STATE_ROWS 16
#include "decode.glsl"

const uint LANE_ROWS = LANES < TILE ? TILE/LANES : 1; // rows whose softmax a lane takes part in
const uint PARTS     = LANES < TILE ? 1 : LANES/TILE; // lanes that share a row
const uint POSITIONS = TILE/PARTS;                    // of a lane, in a row

// A lane expands units: a word of turbo4, three of turbo3.
const uint K_UNITS = K_FOUR ? HSK/8 : HSK/32;     // of a block
const uint V_UNITS = V_FOUR ? HSV/8 : HSV/32;
const uint K_TURNS = (TILE*K_UNITS + LANES - 1)/LANES; // units of a lane in a tile
const uint V_TURNS = (TILE*V_UNITS + LANES - 1)/LANES;

// in vectors of four, those of tiles in eight; the padding keeps rows of matrices off each other's banks
const uint Q_STRIDE    = HSK/4 + 2;
const uint V_STRIDE    = HSV/8 + 1;
const uint TILE_STRIDE = (HSK > HSV ? HSK : HSV)/8 + 1;
const uint SCORE_STRIDE  = TILE/4 + 1;
const uint WEIGHT_STRIDE = TILE/4 + 2;

shared f16vec4  q_sh[TILE*Q_STRIDE];                // in the order of tile.glsl
shared uvec4    tile_sh[SUBGROUPS*TILE*TILE_STRIDE]; // eight values in fp16, in the end four in fp32
shared vec4     score_sh[SUBGROUPS*TILE*SCORE_STRIDE];  // [row][position]
shared f16vec4  weight_sh[SUBGROUPS*TILE*WEIGHT_STRIDE]; // [row][position]
shared vec4     d_sh[SUBGROUPS*TILE/4];             // of the blocks of K
shared f16vec4  step_sh[SUBGROUPS*2*TILE];          // what the levels of a quarter are multiplied by, of K, then of V

void sync_subgroup() {
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}

#include "tile.glsl"

#ifdef COOPMAT
#define MATRIX(TYPE, USE) coopmat<TYPE, gl_ScopeSubgroup, 16, 16, USE>
#endif
// Without COOPMAT what goes over a tile is not unrolled: a software device has subgroups of 8, and would compile for minutes.

void main() {
    init_indices();
    lane = gl_SubgroupInvocationID;
    sub  = gl_SubgroupID;

    const uint k_offset = k_start();
    const uint v_offset = v_start();
    const uint m_offset = m_start();

    const uint tile   = sub*TILE*TILE_STRIDE;
    const uint scores  = sub*TILE*SCORE_STRIDE;
    const uint weights = sub*TILE*WEIGHT_STRIDE;
    const uint heads  = sub*2*TILE;

    float m[LANE_ROWS], l[LANE_ROWS];
    [[unroll]] for (uint r = 0; r < LANE_ROWS; ++r) {
        m[r] = LOWEST;
        l[r] = 0.0;
    }
#ifdef COOPMAT
    MATRIX(float, gl_MatrixUseAccumulator) sums[HSV/16];
    [[unroll]] for (uint d = 0; d < HSV/16; ++d) {
        sums[d] = MATRIX(float, gl_MatrixUseAccumulator)(0.0);
    }
#else
    vec4 sums[Br][V_VECTORS];
    [[unroll]] for (uint r = 0; r < Br; ++r) {
        [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {
            sums[r][c] = vec4(0.0);
        }
    }
#endif

    const uint last = min(end_j*Bc, KV);
    uint first = start_j*Bc + sub*TILE;
#ifdef COOPMAT
    // what the next tile needs is on its way while this one is computed, and what the first needs while tables are made; behind the last
    // one nothing that is not read anyway
    uvec3 k_next[K_TURNS], v_next[V_TURNS];
    uint head_next;
    float16_t bias_next[POSITIONS];
#define READ_HEAD(first) {                                                                                \
        const uint pos = min((first) + lane%TILE, last - 1u);                                             \
        head_next = lane < TILE ? data_k[(k_offset + pos*k_stride)*K_WORDS] : data_v[(v_offset + pos*v_stride)*V_WORDS]; \
    }
#define READ_K(first)                                                                                     \
        [[unroll]] for (uint t = 0; t < K_TURNS; ++t) {                                                   \
            const uint i   = t*LANES + lane;                                                              \
            const uint pos = min((first) + i/K_UNITS, last - 1u);                                         \
            k_next[t] = READ_UNIT(data_k, K_FOUR, HSK, (k_offset + pos*k_stride)*K_WORDS, i%K_UNITS);     \
        }
#define READ_V(first)                                                                                     \
        [[unroll]] for (uint t = 0; t < V_TURNS; ++t) {                                                   \
            const uint i   = t*LANES + lane;                                                              \
            const uint pos = min((first) + i/V_UNITS, last - 1u);                                         \
            v_next[t] = READ_UNIT(data_v, V_FOUR, HSV, (v_offset + pos*v_stride)*V_WORDS, i%V_UNITS);     \
        }
#define READ_BIAS(first)                                                                                  \
        [[unroll]] for (uint c = 0; c < POSITIONS; ++c) {                                                 \
            const uint row = lane%TILE < N ? lane%TILE : 0u;                                              \
            const uint pos = min((first) + lane/TILE*POSITIONS + c, last - 1u);                           \
            bias_next[c] = MASK_ENABLE ? data_m[m_offset + row*m_stride + pos] : float16_t(0.0);          \
        }
    READ_HEAD(first)
    READ_K(first)
    READ_V(first)
    READ_BIAS(first)
#endif
    make_table();
    [[dont_unroll]] for (uint row = sub; row < TILE; row += SUBGROUPS) {
        vec4 query[K_VECTORS];
        READ_QUERY(row, query)
        [[unroll]] for (uint c = 0; c < K_VECTORS; ++c) {
            const uint d = c*LANES + lane;
            if (d < HSK/4) {
                const uint at = row*Q_STRIDE + 2*chunk_of(K_FOUR, HSK, d);
                const uint half_ = half_of(K_FOUR, HSK, d);
                [[unroll]] for (uint j = 0; j < 4; ++j) {
                    q_sh[at + j/2][2*(j%2) + half_] = float16_t(query[c][j]);
                }
            }
        }
    }
    barrier();

#ifdef COOPMAT
    MATRIX(float16_t, gl_MatrixUseA) query[HSK/16];
    [[unroll]] for (uint d = 0; d < HSK/16; ++d) {
        coopMatLoad(query[d], q_sh, 4*d, Q_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
    }
#endif
    bool begun = false; // otherwise the sums are 0
    [[dont_unroll]] for (; first < last; first += SUBGROUPS*TILE) {
        const uint following = first + SUBGROUPS*TILE;
        for (uint i = lane; i < 2*TILE; i += LANES) {
#ifdef COOPMAT
            const uint head = head_next;
#else
            const uint pos  = min(first + i%TILE, KV - 1u);
            const uint head = i < TILE ? data_k[(k_offset + pos*k_stride)*K_WORDS] : data_v[(v_offset + pos*v_stride)*V_WORDS];
#endif
            const float d = turbo_d(head);
            if (i < TILE) {
                d_sh[(sub*TILE + i)/4][i%4] = d;
            }
            const vec4 factors = vec4(turbo_factor(head, 0u), turbo_factor(head, 1u), turbo_factor(head, 2u), turbo_factor(head, 3u));
            step_sh[heads + i] = f16vec4(i < TILE ? factors : d*factors);
        }
        sync_subgroup();

        // K
#ifdef COOPMAT
        READ_HEAD(following)
        [[unroll]] for (uint t = 0; t < K_TURNS; ++t) {
            const uint i = t*LANES + lane;
            if (i < TILE*K_UNITS) {
                expand(K_FOUR, HSK, 0u, heads, i/K_UNITS, i%K_UNITS, k_next[t]);
            }
        }
        READ_K(following)
#else
        [[dont_unroll]] for (uint i = lane; i < TILE*K_UNITS; i += LANES) {
            const uint pos = min(first + i/K_UNITS, KV - 1u);
            expand(K_FOUR, HSK, 0u, heads, i/K_UNITS, i%K_UNITS,
                READ_UNIT(data_k, K_FOUR, HSK, (k_offset + pos*k_stride)*K_WORDS, i%K_UNITS));
        }
#endif
        sync_subgroup();

#ifdef COOPMAT
        MATRIX(float, gl_MatrixUseAccumulator) products = MATRIX(float, gl_MatrixUseAccumulator)(0.0);
        [[unroll]] for (uint d = 0; d < HSK/16; ++d) {
            MATRIX(float16_t, gl_MatrixUseB) keys;
            coopMatLoad(keys, tile_sh, tile + 2*d, TILE_STRIDE, gl_CooperativeMatrixLayoutColumnMajor);
            products = coopMatMulAdd(query[d], keys, products);
        }
        coopMatStore(products, score_sh, scores, SCORE_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
#else
        for (uint i = lane; i < N*TILE; i += LANES) {
            const uint row = i/TILE;
            const uint key = tile + i%TILE*TILE_STRIDE;
            float sum = 0.0;
            [[unroll]] for (uint d = 0; d < HSK/4; ++d) {
                sum += dot(vec4(q_sh[row*Q_STRIDE + d]), unpacked(tile_sh[key + d/2], d%2));
            }
            score_sh[scores + row*SCORE_STRIDE + i%TILE/4][i%4] = sum;
        }
#endif
        sync_subgroup();

        // softmax
        [[unroll]] for (uint r = 0; r < LANE_ROWS; ++r) {
            const uint row  = LANES < TILE ? r*LANES + lane : lane%TILE;
            const uint part = LANES < TILE ? 0 : lane/TILE*POSITIONS;
            float score[POSITIONS];
            float top = LOWEST;
            [[unroll]] for (uint c = 0; c < POSITIONS; ++c) {
                const uint pos = first + part + c;
                float s = -1.0/0.0;
                if (row < N && pos < last) {
                    s = score_sh[scores + row*SCORE_STRIDE + (part + c)/4][c%4]*d_sh[(sub*TILE + part + c)/4][c%4];
                    if (LOGIT_SOFTCAP) {
                        s = p.logit_softcap*tanh(s);
                    }
                    if (MASK_ENABLE) {
#ifdef COOPMAT
                        float bias = float(bias_next[c]);
#else
                        float bias = float(data_m[m_offset + row*m_stride + pos]);
#endif
                        if (p.max_bias > 0.0) {
                            bias *= perElemOpComputeSlope(row, 0u, 0.0, iq2);
                        }
                        s += bias;
                    }
                }
                score[c] = s;
                top = max(top, s);
            }
            [[unroll]] for (uint o = TILE; o < LANES; o *= 2) {
                top = max(top, subgroupShuffleXor(top, o));
            }
            // rare: the sums are brought to a new maximum
            if (subgroupAny(top > m[r] + SLACK)) {
                const float next   = top > m[r] + SLACK ? top : m[r];
                const float factor = exp(m[r] - next);
                m[r] = next;
                l[r] *= factor;
#ifdef COOPMAT
                if (begun) {
                    // a matrix of the factors, in the room of the scores, which all lanes have read
                    [[unroll]] for (uint c = 0; c < POSITIONS; c += 4) {
                        score_sh[scores + row*SCORE_STRIDE + (part + c)/4] = vec4(factor);
                    }
                    sync_subgroup();
                    MATRIX(float, gl_MatrixUseAccumulator) factors;
                    coopMatLoad(factors, score_sh, scores, SCORE_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
                    [[unroll]] for (uint d = 0; d < HSV/16; ++d) {
                        sums[d] = sums[d]*factors;
                    }
                }
#else
                factor_sh[sub*TILE + row] = factor;
                sync_subgroup();
                const uint rows = LANES < TILE ? LANES : TILE;
                [[unroll]] for (uint i = 0; i < rows; ++i) {
                    const uint at = LANES < TILE ? r*LANES + i : i;
                    if (at < Br) {
                        [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {
                            sums[at][c] *= factor_sh[sub*TILE + at];
                        }
                    }
                }
#endif
            }
            [[unroll]] for (uint c = 0; c < POSITIONS; c += 4) {
                const vec4 weight = exp(vec4(score[c], score[c + 1], score[c + 2], score[c + 3]) - m[r]);
                l[r] += weight.x + weight.y + weight.z + weight.w;
                weight_sh[weights + row*WEIGHT_STRIDE + (part + c)/4] = f16vec4(weight);
            }
        }

        // V
#ifdef COOPMAT
        READ_BIAS(following)
        [[unroll]] for (uint t = 0; t < V_TURNS; ++t) {
            const uint i = t*LANES + lane;
            if (i < TILE*V_UNITS) {
                expand(V_FOUR, HSV, V_TABLE, heads + TILE, i/V_UNITS, i%V_UNITS, v_next[t]);
            }
        }
        READ_V(following)
#else
        [[dont_unroll]] for (uint i = lane; i < TILE*V_UNITS; i += LANES) {
            const uint pos = min(first + i/V_UNITS, KV - 1u);
            expand(V_FOUR, HSV, V_TABLE, heads + TILE, i/V_UNITS, i%V_UNITS,
                READ_UNIT(data_v, V_FOUR, HSV, (v_offset + pos*v_stride)*V_WORDS, i%V_UNITS));
        }
#endif
        sync_subgroup();

#ifdef COOPMAT
        begun = true;
        MATRIX(float16_t, gl_MatrixUseA) weight;
        coopMatLoad(weight, weight_sh, weights, WEIGHT_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint d = 0; d < HSV/16; ++d) {
            MATRIX(float16_t, gl_MatrixUseB) values;
            coopMatLoad(values, tile_sh, tile + 2*d, TILE_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
            sums[d] = coopMatMulAdd(weight, values, sums[d]);
        }
#else
        [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {
            const uint d = c*LANES + lane;
            if (d < HSV/4) {
                [[dont_unroll]] for (uint i = 0; i < TILE; ++i) {
                    const vec4 value = unpacked(tile_sh[tile + i*TILE_STRIDE + d/2], d%2);
                    [[unroll]] for (uint r = 0; r < Br; ++r) {
                        if (r < N) {
                            sums[r][c] += float(weight_sh[weights + r*WEIGHT_STRIDE + i/4][i%4])*value;
                        }
                    }
                }
            }
        }
#endif
        sync_subgroup();
    }

    // the subgroups joined
    [[unroll]] for (uint r = 0; r < LANE_ROWS; ++r) {
        [[unroll]] for (uint o = TILE; o < LANES; o *= 2) {
            l[r] += subgroupShuffleXor(l[r], o);
        }
        const uint row = LANES < TILE ? r*LANES + lane : lane%TILE;
        state_sh[sub*TILE + row] = vec2(m[r], l[r]);
    }
    barrier();

    join_states();
    barrier();

    // The sums of all subgroups go through the room of their tiles, in two halves: of the columns of matrices, otherwise of the rows. The
    // lanes of one subgroup add up a row, as ROTATE wants it.
    vec4 joined[ROWS][V_VECTORS];
    [[unroll]] for (uint pass = 0; pass < 2; ++pass) {
#ifdef COOPMAT
        [[unroll]] for (uint d = 0; d < HSV/32; ++d) {
            coopMatStore(sums[pass*(HSV/32) + d], tile_sh, tile + 4*d, V_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
        }
#else
        [[unroll]] for (uint r = 0; r < Br; ++r) {
            [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {
                const uint d = c*LANES + lane;
                if (r/(TILE/2) == pass && r < N && d < HSV/4) {
                    tile_sh[tile + r%(TILE/2)*(HSV/4) + d] = floatBitsToUint(sums[r][c]);
                }
            }
        }
#endif
        barrier();
        [[unroll]] for (uint k = 0; k < ROWS; ++k) {
            const uint row = k*SUBGROUPS + sub;
            [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {
                const uint d = c*LANES + lane;
                const uint chunk = chunk_of(V_FOUR, HSV, d);
#ifdef COOPMAT
                const bool here = chunk/(HSV/16) == pass && d < HSV/4;
                const uint at = row*V_STRIDE + 2*(chunk%(HSV/16));
#else
                const bool here = row/(TILE/2) == pass && d < HSV/4;
                const uint at = row%(TILE/2)*(HSV/4) + 2*chunk;
#endif
                if (here && row < N) {
                    vec4 sum = vec4(0.0);
                    [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
                        const uint from = s*TILE*TILE_STRIDE + at;
                        const vec4 a = uintBitsToFloat(tile_sh[from]), b = uintBitsToFloat(tile_sh[from + 1]);
                        sum += factor_sh[s*TILE + row]*(half_of(V_FOUR, HSV, d) == 0 ? vec4(a.xz, b.xz) : vec4(a.yw, b.yw));
                    }
                    joined[k][c] = sum;
                } else if (pass == 0) {
                    joined[k][c] = vec4(0.0);
                }
            }
        }
        barrier();
    }
    WRITE_ROWS(joined)
}
