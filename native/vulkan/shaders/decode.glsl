// What both kernels of attention over few rows share: decode.comp and decode-fragments.comp. They define STATE_ROWS before they include it:
// the rows for which each subgroup keeps a maximum m and the sum l of its weights.
//
// Upstream's contract (flash_attn_base.glsl): a workgroup takes one KV head and one range of positions, and writes its sums and, when the
// range was split, the m and l of each row for flash_attn_split_k_reduce. Inside, every subgroup goes through tiles of 16 positions of its
// own without a barrier of the workgroup; at the end the subgroups are joined.

#include "types.glsl"
#include "flash_attn_base.glsl"
#include "blocks.glsl"

layout (binding = 0) readonly buffer Q { vec4 data_q[]; };
layout (binding = 1) readonly buffer K { uint data_k[]; };
layout (binding = 2) readonly buffer V { uint data_v[]; };
layout (binding = 3) readonly buffer M { float16_t data_m[]; };

const uint TILE      = 16; // positions of a tile
const uint SUBGROUPS = WorkGroupSize/SubGroupSize;
const uint LANES     = SubGroupSize;

const bool K_FOUR  = FaTypeK == TURBO4 || FaTypeK == TURBO4_64;
const bool V_FOUR  = FaTypeV == TURBO4 || FaTypeV == TURBO4_64;
const uint K_WORDS = 1 + HSK*(K_FOUR ? 4 : 3)/32; // of a block
const uint V_WORDS = 1 + HSV*(V_FOUR ? 4 : 3)/32;
const uint V_TABLE = K_FOUR == V_FOUR ? 0 : 256; // where V's levels begin

// vectors lane, lane + LANES, ... of a row
const uint K_VECTORS = (HSK/4 + LANES - 1)/LANES;
const uint V_VECTORS = (HSV/4 + LANES - 1)/LANES;
const uint ROWS = (STATE_ROWS + SUBGROUPS - 1)/SUBGROUPS; // of the result, of a subgroup

shared float factor_sh[SUBGROUPS*STATE_ROWS];
shared vec2  state_sh[SUBGROUPS*STATE_ROWS];  // m and l of each row
shared uint  pair_sh[V_TABLE + 256];          // the levels of the two codes of a byte, for K and for V

#define LOWEST (-1.7e38)                      // as upstream's, half of the most negative number: differences stay finite
const float SLACK  = 4.0;                     // a new maximum less than this above the old one rescales nothing

// native/gpu/fold.h
#define ROTATES_QUERY  (1u << 25)
#define ROTATES_RESULT (1u << 26)

uint lane, sub;

uint k_start() { return (ik2*p.nb12 + ik3*p.nb13)/FaBlockBytesK; }
uint v_start() { return (iv2*p.nb22 + iv3*p.nb23)/FaBlockBytesV; }
uint m_start() {
    const uint of_head = p.nem2 == 1 && p.nem3 == 1 ? 0 : ((iq3%p.nem3)*p.nem2 + (iq2%p.nem2))*p.nem1;
    return (gqa_iq1 + of_head)*KV;
}

void make_table() {
    [[dont_unroll]] for (uint i = gl_LocalInvocationIndex; i < V_TABLE + 256u; i += WorkGroupSize) {
        const bool four = i < 256u ? K_FOUR : V_FOUR;
        pair_sh[i] = packHalf2x16(four ? vec2(turbo4_level(i), turbo4_level(i >> 4)) : vec2(turbo3_level(i), turbo3_level(i >> 4)));
    }
}

// The levels of the two codes of byte i of a word.
f16vec2 levels(uint table, uint codes, uint i) {
    return unpackFloat2x16(pair_sh[table + (codes >> 8u*i & 0xFFu)]);
}

// A row of DIM values times the Walsh-Hadamard matrix: lane i of a subgroup holds its vectors i, i + LANES, ...; all lanes take part.
#define ROTATE(row, DIM) {                                                                                \
        const float scale_ = inversesqrt(float(DIM));                                                     \
        [[unroll]] for (uint c = 0; c < (DIM/4 + LANES - 1)/LANES; ++c) {                                 \
            vec4 x = row[c]*scale_;                                                                       \
            x = vec4(x.x + x.y, x.x - x.y, x.z + x.w, x.z - x.w);                                         \
            x = vec4(x.xy + x.zw, x.xy - x.zw);                                                           \
            [[unroll]] for (uint h = 1; h < LANES && h < DIM/4; h *= 2) {                                 \
                const vec4 other = subgroupShuffleXor(x, h);                                              \
                x = (lane & h) == 0 ? x + other : other - x;                                              \
            }                                                                                             \
            row[c] = x;                                                                                   \
        }                                                                                                 \
        [[unroll]] for (uint h = 1; h < DIM/4/LANES; h *= 2) {                                            \
            [[unroll]] for (uint c = 0; c < DIM/4/LANES; ++c) {                                           \
                if ((c & h) == 0) {                                                                       \
                    const vec4 x = row[c];                                                                \
                    row[c]     = x + row[c + h];                                                          \
                    row[c + h] = x - row[c + h];                                                          \
                }                                                                                         \
            }                                                                                             \
        }                                                                                                 \
    }

// Row `row` of the query, scaled and rotated if the graph leaves that to this kernel; a row that is none is 0.
#define READ_QUERY(row, query) {                                                                          \
        const uint q_offset = gqa_iq1*p.nb01 + (iq2*p.nb02 + iq3*p.nb03)/4;                               \
        [[unroll]] for (uint c = 0; c < K_VECTORS; ++c) {                                                 \
            const uint d = c*LANES + lane;                                                                \
            query[c] = (row) < N && d < HSK/4 ? data_q[(q_offset + (row)*q_stride)/4 + d]*p.scale : vec4(0.0); \
        }                                                                                                 \
        if ((row) < N && (p.mask_n_head_log2 & ROTATES_QUERY) != 0) {                                     \
            ROTATE(query, HSK)                                                                            \
        }                                                                                                 \
    }

// [HSV, heads, split, tokens, streams], then m and l (flash_attn_split_k_reduce.comp)
uint head_of(uint row)  { return p.gqa_ratio > 1 ? iq2 + row : iq2; }
uint token_of(uint row) { return p.gqa_ratio > 1 ? gqa_iq1 : row; }
uint split_of(uint row) { return (p.k_num > 1 ? split_k_index : 0) + max(p.k_num, 1)*(token_of(row) + p.ne2*iq3); }

// From the states of all subgroups, after a barrier: what the sums of each are multiplied by; writes m and l of a split range.
void join_states() {
    const uint row = gl_LocalInvocationIndex;
    if (row >= N) {
        return;
    }
    float top = LOWEST;
    [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
        top = max(top, state_sh[s*STATE_ROWS + row].x);
    }
    float total = 0.0;
    [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
        const float factor = exp(state_sh[s*STATE_ROWS + row].x - top);
        total += factor*state_sh[s*STATE_ROWS + row].y;
        factor_sh[s*STATE_ROWS + row] = factor;
    }
    if (p.k_num > 1) {
        const uint at = HSV*p.ne1*p.k_num*p.ne2*p.ne3 + p.ne1*2*split_of(row) + head_of(row);
        data_o[at] = total;
        data_o[at + p.ne1] = top;
        return;
    }
    float scale = 1.0;
    if ((p.mask_n_head_log2 & SINK_ENABLE_BIT) != 0) {
        const float sink = data_s[head_of(row)];
        const float next = max(top, sink);
        scale = exp(top - next);
        total = total*scale + exp(sink - next);
    }
    scale = total == 0.0 ? 0.0 : scale/total;
    [[unroll]] for (uint s = 0; s < SUBGROUPS; ++s) {
        factor_sh[s*STATE_ROWS + row] *= scale;
    }
}

// Row k*SUBGROUPS + sub of the result, rotated if the graph leaves that to this kernel.
#define WRITE_ROWS(joined)                                                                                \
    [[unroll]] for (uint k = 0; k < ROWS; ++k) {                                                          \
        const uint row = k*SUBGROUPS + sub;                                                               \
        if (row < N) {                                                                                    \
            if ((p.mask_n_head_log2 & ROTATES_RESULT) != 0) {                                             \
                ROTATE(joined[k], HSV)                                                                    \
            }                                                                                             \
            [[unroll]] for (uint c = 0; c < V_VECTORS; ++c) {                                             \
                const uint d = c*LANES + lane;                                                            \
                if (d < HSV/4) {                                                                          \
                    data_ov4[HSV/4*(p.ne1*split_of(row) + head_of(row)) + d] = joined[k][c];              \
                }                                                                                         \
            }                                                                                             \
        }                                                                                                 \
    }
