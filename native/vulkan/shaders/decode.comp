#version 450
// Attention of few rows (the heads of a group, or some tokens) over a cache of turbo types: each block is expanded once, for all rows.
//
// Upstream's contract (flash_attn_base.glsl): a workgroup takes one KV head and one range of positions, and writes its sums and, when
// the range was split, the m and l of each row for flash_attn_split_k_reduce. Inside, every subgroup goes through tiles of 16
// positions of its own without a barrier of the workgroup: expand K, scores, softmax, expand V, sums. At the end the subgroups are
// joined. With COOPMAT the products are 16x16x16 matrices in fp16, added up in fp32; without, each value of a tile is read from shared
// memory once for each row.
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

#include "types.glsl"
#include "flash_attn_base.glsl"
#include "blocks.glsl"

layout (binding = 0) readonly buffer Q { vec4 data_q[]; };
layout (binding = 1) readonly buffer K { uint data_k[]; };
layout (binding = 2) readonly buffer V { uint data_v[]; };
layout (binding = 3) readonly buffer M { float16_t data_m[]; };

const uint TILE      = 16;                            // positions of a tile; rows of a matrix
const uint SUBGROUPS = WorkGroupSize/SubGroupSize;
const uint LANES     = SubGroupSize;
const uint LANE_ROWS = LANES < TILE ? TILE/LANES : 1; // rows whose softmax a lane takes part in
const uint PARTS     = LANES < TILE ? 1 : LANES/TILE; // lanes that share a row
const uint POSITIONS = TILE/PARTS;                    // of a lane, in a row

// A lane expands units: a word of turbo4, three of turbo3.
const bool K_FOUR  = FaTypeK == TURBO4 || FaTypeK == TURBO4_64;
const bool V_FOUR  = FaTypeV == TURBO4 || FaTypeV == TURBO4_64;
const uint K_WORDS = 1 + HSK*(K_FOUR ? 4 : 3)/32; // of a block
const uint V_WORDS = 1 + HSV*(V_FOUR ? 4 : 3)/32;
const uint K_UNITS = K_FOUR ? HSK/8 : HSK/32;     // of a block
const uint V_UNITS = V_FOUR ? HSV/8 : HSV/32;
const uint V_TABLE = K_FOUR == V_FOUR ? 0 : 256;  // where V's levels begin
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
shared float    factor_sh[SUBGROUPS*TILE];
shared vec2     state_sh[SUBGROUPS*TILE];           // m and l of each row
shared uint     pair_sh[V_TABLE + 256];             // the levels of the two codes of a byte, for K and for V

#define LOWEST (-1.7e38)                            // as upstream's, half of the most negative number: differences stay finite
const float SLACK  = 4.0;                           // a new maximum less than this above the old one rescales nothing

uint lane, sub;

void sync_subgroup() {
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}

#include "tile.glsl"

// native/gpu/fold.h
#define ROTATES_QUERY  (1u << 25)
#define ROTATES_RESULT (1u << 26)

#ifdef COOPMAT
#define MATRIX(TYPE, USE) coopmat<TYPE, gl_ScopeSubgroup, 16, 16, USE>
#endif
// Without COOPMAT what goes over a tile is not unrolled: a software device has subgroups of 8, and would compile for minutes.

// vectors lane, lane + LANES, ... of a row
const uint K_VECTORS = (HSK/4 + LANES - 1)/LANES;
const uint V_VECTORS = (HSV/4 + LANES - 1)/LANES;
const uint ROWS = (TILE + SUBGROUPS - 1)/SUBGROUPS; // of the result, of a subgroup

void main() {
    init_indices();
    lane = gl_SubgroupInvocationID;
    sub  = gl_SubgroupID;
    const uint tid = gl_LocalInvocationIndex;

    const uint k_offset = (ik2*p.nb12 + ik3*p.nb13)/FaBlockBytesK;
    const uint v_offset = (iv2*p.nb22 + iv3*p.nb23)/FaBlockBytesV;
    uint m_offset = gqa_iq1*KV;
    if (p.nem2 != 1 || p.nem3 != 1) {
        m_offset += ((iq3%p.nem3)*p.nem2 + (iq2%p.nem2))*p.nem1*KV;
    }

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
    // what the next tile needs is on its way while this one is computed, and what the first needs while tables are made
    uvec3 k_next[K_TURNS], v_next[V_TURNS];
    uint head_next;
    float16_t bias_next[POSITIONS];
#define READ_HEAD(first) {                                                                                \
        const uint pos = min((first) + lane%TILE, KV - 1u);                                               \
        head_next = lane < TILE ? data_k[(k_offset + pos*k_stride)*K_WORDS] : data_v[(v_offset + pos*v_stride)*V_WORDS]; \
    }
#define READ_K(first)                                                                                     \
        [[unroll]] for (uint t = 0; t < K_TURNS; ++t) {                                                   \
            const uint i   = t*LANES + lane;                                                              \
            const uint pos = min((first) + i/K_UNITS, KV - 1u);                                           \
            k_next[t] = READ_UNIT(data_k, K_FOUR, HSK, (k_offset + pos*k_stride)*K_WORDS, i%K_UNITS);     \
        }
#define READ_V(first)                                                                                     \
        [[unroll]] for (uint t = 0; t < V_TURNS; ++t) {                                                   \
            const uint i   = t*LANES + lane;                                                              \
            const uint pos = min((first) + i/V_UNITS, KV - 1u);                                           \
            v_next[t] = READ_UNIT(data_v, V_FOUR, HSV, (v_offset + pos*v_stride)*V_WORDS, i%V_UNITS);     \
        }
#define READ_BIAS(first)                                                                                  \
        [[unroll]] for (uint c = 0; c < POSITIONS; ++c) {                                                 \
            const uint row = lane%TILE < N ? lane%TILE : 0u;                                              \
            const uint pos = min((first) + lane/TILE*POSITIONS + c, KV - 1u);                             \
            bias_next[c] = MASK_ENABLE ? data_m[m_offset + row*m_stride + pos] : float16_t(0.0);          \
        }
    READ_HEAD(first)
    READ_K(first)
    READ_V(first)
    READ_BIAS(first)
#endif
    [[dont_unroll]] for (uint i = tid; i < V_TABLE + 256u; i += WorkGroupSize) {
        const bool four = i < 256u ? K_FOUR : V_FOUR;
        pair_sh[i] = packHalf2x16(four ? vec2(turbo4_level(i), turbo4_level(i >> 4)) : vec2(turbo3_level(i), turbo3_level(i >> 4)));
    }
    const uint q_offset = gqa_iq1*p.nb01 + (iq2*p.nb02 + iq3*p.nb03)/4;
    [[dont_unroll]] for (uint row = sub; row < TILE; row += SUBGROUPS) {
        vec4 query[K_VECTORS];
        [[unroll]] for (uint c = 0; c < K_VECTORS; ++c) {
            const uint d = c*LANES + lane;
            query[c] = row < N && d < HSK/4 ? data_q[(q_offset + row*q_stride)/4 + d]*p.scale : vec4(0.0);
        }
        if (row < N && (p.mask_n_head_log2 & ROTATES_QUERY) != 0) {
            ROTATE(query, HSK)
        }
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

    // [HSV, heads, split, tokens, streams], then m and l (flash_attn_split_k_reduce.comp)
    const bool grouped = p.gqa_ratio > 1;
    const uint split = p.k_num > 1 ? split_k_index : 0;
    const uint n_split = max(p.k_num, 1);
    if (tid < N) {
        float top = LOWEST;
        [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
            top = max(top, state_sh[s*TILE + tid].x);
        }
        float total = 0.0;
        [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
            const float factor = exp(state_sh[s*TILE + tid].x - top);
            total += factor*state_sh[s*TILE + tid].y;
            factor_sh[s*TILE + tid] = factor;
        }
        const uint head  = grouped ? iq2 + tid : iq2;
        const uint token = grouped ? gqa_iq1 : tid;
        if (p.k_num > 1) {
            const uint at = HSV*p.ne1*n_split*p.ne2*p.ne3 + p.ne1*2*(split + n_split*(token + p.ne2*iq3)) + head;
            data_o[at] = total;
            data_o[at + p.ne1] = top;
        } else {
            float scale = 1.0;
            if ((p.mask_n_head_log2 & SINK_ENABLE_BIT) != 0) {
                const float sink = data_s[head];
                const float next = max(top, sink);
                scale = exp(top - next);
                total = total*scale + exp(sink - next);
            }
            scale = total == 0.0 ? 0.0 : scale/total;
            [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
                factor_sh[s*TILE + tid] *= scale;
            }
        }
    }
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
    [[unroll]] for (uint k = 0; k < ROWS; ++k) {
        const uint row = k*SUBGROUPS + sub;
        if (row < N) {
            if ((p.mask_n_head_log2 & ROTATES_RESULT) != 0) {
                ROTATE(joined[k], HSV)
            }
            const uint head  = grouped ? iq2 + row : iq2;
            const uint token = grouped ? gqa_iq1 : row;
            [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {
                const uint d = c*LANES + lane;
                if (d < HSV/4) {
                    data_ov4[HSV/4*(p.ne1*(split + n_split*(token + p.ne2*iq3)) + head) + d] = joined[k][c];
                }
            }
        }
    }
}
