// A tile of shaders/decode.comp: blocks expanded into fp16, and rows rotated over the lanes of a subgroup. Included where its shared arrays,
// LANES, lane and sub are known.

uvec2 packed(f16vec4 x) {
    return uvec2(packFloat2x16(x.xy), packFloat2x16(x.zw));
}

vec4 unpacked(uvec2 x) {
    return vec4(unpackFloat2x16(x.x), unpackFloat2x16(x.y));
}

// Levels of the low nibbles of the bytes of a word and of the high ones.
void levels(uint codes, uint table, out f16vec4 low, out f16vec4 high) {
    [[unroll]] for (uint l = 0; l < 4; ++l) {
        const f16vec2 pair = unpackFloat2x16(pair_sh[table + (codes >> 8u*l & 0xFFu)]);
        low[l]  = pair.x;
        high[l] = pair.y;
    }
}

// Expands a unit into row `row` of the tile. first: of the subgroup's scales, of K or V; words: of the unit.
void expand(bool four, uint group, uint table, uint first, uint row, uint unit, uvec3 words) {
    const uint at = sub*TILE*TILE_STRIDE + row*TILE_STRIDE;
    const uint quarter = group/4u;
    f16vec4 low, high;
    if (four) {
        levels(words.x, table, low, high);
        const uint value = 4u*unit;
        tile_sh[at + value/4u]           = packed(low*step_sh[first + row][value/quarter]);
        tile_sh[at + value/4u + group/8u] = packed(high*step_sh[first + row][value/quarter + 2u]);
    } else {
        const f16vec4 step_ = step_sh[first + row];
        const uint n = group/16u;
        const uint h = unit/(n/4u);
        [[unroll]] for (uint k = 0; k < 4; ++k) {
            levels(k < 3u ? words[k]
                          : (words.x >> 3 & 0x11111111u) | (words.y >> 3 & 0x11111111u) << 1 | (words.z >> 3 & 0x11111111u) << 2,
                table, low, high);
            const uint u     = 2u*n*k + 4u*(unit%(n/4u));
            const uint first_value = u/16u*32u + 16u*h + u%16u;
            const uint other_value = (u + n)/16u*32u + 16u*h + (u + n)%16u;
            tile_sh[at + first_value/4u] = packed(low*step_[first_value/quarter]);
            tile_sh[at + other_value/4u] = packed(high*step_[other_value/quarter]);
        }
    }
}

// The words of a unit of the block at word `base`.
#define READ_UNIT(BUF, four, group, base, unit)                                                           \
    ((four) ? uvec3(BUF[(base) + 1u + (unit)], 0u, 0u)                                                    \
            : uvec3(BUF[(base) + 1u + (unit)%((group)/64u) + (group)/64u*(2u*((unit)/((group)/64u)))],     \
                    BUF[(base) + 1u + (unit)%((group)/64u) + (group)/64u*(2u*((unit)/((group)/64u)) + 1u)], \
                    BUF[(base) + 1u + (unit)%((group)/64u) + (group)/64u*(4u + (unit)/((group)/64u))]))

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
