// A tile of shaders/decode.comp: blocks expanded into fp16. Included where its shared arrays and sub are known.

// Four of the values of a chunk in fp16.
vec4 unpacked(uvec4 x, uint half_) {
    const uvec2 two = half_ == 0 ? x.xy : x.zw;
    return vec4(unpackFloat2x16(two.x), unpackFloat2x16(two.y));
}

// A row of a tile is in the order of the codes, in which the two of a byte are neighbors: a lookup gives both, and nothing is sorted. Vector
// v of a row, values 4*v to 4*v + 3, are the first or second halves of the four pairs of a chunk. Products of rows do not mind, as long as
// queries are in that order, too; the result is sorted at the end.
uint chunk_of(bool four, uint group, uint v) {
    if (four) {
        return v%(group/8u);
    }
    const uvec3 at = turbo3_place(group, v);
    return at.y*(group/32u) + at.x;
}

uint half_of(bool four, uint group, uint v) {
    return four ? v/(group/8u) : turbo3_place(group, v).z;
}

// The levels of the four bytes of a word times the steps of a pair.
uvec4 pairs(uint codes, uint table, f16vec2 steps) {
    uvec4 res;
    [[unroll]] for (uint l = 0; l < 4; ++l) {
        res[l] = packFloat2x16(levels(table, codes, l)*steps);
    }
    return res;
}

// Expands a unit into row `row` of the tile. first: of the subgroup's scales, of K or V; words: of the unit.
void expand(bool four, uint group, uint table, uint first, uint row, uint unit, uvec3 words) {
    const uint at = sub*TILE*TILE_STRIDE + row*TILE_STRIDE;
    const uint quarter = group/4u;
    const f16vec4 step_ = step_sh[first + row];
    if (four) {
        tile_sh[at + unit] = pairs(words.x, table, 4u*unit < quarter ? step_.xz : step_.yw);
    } else {
        const uint n = group/16u;
        const uint h = unit/(n/4u);
        [[unroll]] for (uint k = 0; k < 4; ++k) {
            const uint codes = k < 3u ? words[k] : turbo3_fourth(words);
            const uint u = 2u*n*k + 4u*(unit%(n/4u));
            const uint first_value = u/16u*32u + 16u*h + u%16u;
            const uint other_value = (u + n)/16u*32u + 16u*h + (u + n)%16u;
            tile_sh[at + k*(group/32u) + unit] =
                pairs(codes, table, f16vec2(step_[first_value/quarter], step_[other_value/quarter]));
        }
    }
}

// The words of a unit of the block at word `base`.
#define READ_UNIT(BUF, four, group, base, unit)                                                           \
    ((four) ? uvec3(BUF[(base) + 1u + (unit)], 0u, 0u)                                                    \
            : uvec3(BUF[(base) + 1u + turbo3_word(group, unit, 0u)],                                       \
                    BUF[(base) + 1u + turbo3_word(group, unit, 1u)],                                       \
                    BUF[(base) + 1u + turbo3_word(group, unit, 2u)]))
