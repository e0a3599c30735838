// The blocks of native/turbo/codec/turbo-layout.h, read as whole words: every block size is a multiple of four bytes, and so is
// every offset.

#ifndef TURBO_BLOCKS_GLSL
#define TURBO_BLOCKS_GLSL

// From native/turbo/ggml-turbo.h; turbo-vulkan.h asserts them.
#define TURBO4    36u
#define TURBO3    37u
#define TURBO4_64 38u
#define TURBO3_64 33u

// Magnitudes, one a byte: those of turbo4 in two words, those of turbo3 in one.
#define TURBO4_LOW  0x271B1005u // 5 16 27 39
#define TURBO4_HIGH 0x6F554334u // 52 67 85 111
#define TURBO3_ALL  0x6F43250Cu // 12 37 67 111

bool turbo_is(uint type) {
    return type == TURBO4 || type == TURBO3 || type == TURBO4_64 || type == TURBO3_64;
}

bool turbo_is_four(uint type) {
    return type == TURBO4 || type == TURBO4_64;
}

// Values of a block.
uint turbo_group(uint type) {
    return type == TURBO4_64 || type == TURBO3_64 ? 64u : 128u;
}

// Words of a block: one of scales, then the codes.
uint turbo_words(uint type) {
    return 1u + turbo_group(type)*(turbo_is_four(type) ? 4u : 3u)/32u;
}

// Level of a code: its magnitude, negative with the sign bit (8 of turbo4, 4 of turbo3) set.
float turbo4_level(uint code) {
    const uint sizes = (code & 4u) != 0u ? TURBO4_HIGH : TURBO4_LOW;
    const float size = float(sizes >> 8u*(code & 3u) & 0xFFu);
    return (code & 8u) != 0u ? -size : size;
}

float turbo3_level(uint code) {
    const float size = float(TURBO3_ALL >> 8u*(code & 3u) & 0xFFu);
    return (code & 4u) != 0u ? -size : size;
}

// turbo3 in units of 32 codes, which lie in three words. Word i of unit `unit`, counted from the block's first code.
uint turbo3_word(uint group, uint unit, uint i) {
    const uint half_plane = group/64u; // words
    return unit%half_plane + half_plane*(i < 2u ? 2u*(unit/half_plane) + i : 4u + unit/half_plane);
}

// Where vector v (values 4*v to 4*v + 3) of a block of turbo3 lies. x: unit; y: which of its four groups of eight codes; z: the first or second
// codes of their bytes.
uvec3 turbo3_place(uint group, uint v) {
    const uint n = group/16u;
    const uint u = v/8u*16u + 4u*(v%4u);
    return uvec3(v/4u%2u*(n/4u) + u%n/4u, u/(2u*n), u/n%2u);
}

// Three words of turbo3 hold eight codes each in the low three bits of their nibbles, and eight more in the fourth bits: these, as a word.
uint turbo3_fourth(uvec3 words) {
    return (words.x >> 3 & 0x11111111u) | (words.y >> 3 & 0x11111111u) << 1 | (words.z >> 3 & 0x11111111u) << 2;
}

// The factor of quarter q of a block with scales `head`, without d: 2^-13 * (135 + 8*s), exact in fp16.
float turbo_factor(uint head, uint q) {
    return (1.0/8192.0)*float(135u + 8u*(head >> 16u + 4u*q & 15u));
}

float turbo_d(uint head) {
    return unpackHalf2x16(head).x;
}

// Values i .. i + 3 (i a multiple of four) of the block at word `base` of BUF, an array of uint.
#define TURBO_EXPAND(BUF, base, type, i, result) {                                                        \
    const uint group = turbo_group(type);                                                                 \
    const uint head  = BUF[base];                                                                         \
    const float step_ = turbo_d(head)*turbo_factor(head, (i)/(group/4u));                                 \
    uint codes;                                                                                           \
    if (turbo_is_four(type)) {                                                                            \
        codes = BUF[(base) + 1u + (i)%(group/2u)/4u] >> ((i) < group/2u ? 0u : 4u);                       \
    } else {                                                                                              \
        const uint n = group/16u;                                                                         \
        const uint h = (i)/16u%2u;                                                                        \
        const uint u = (i)/32u*16u + (i)%16u;                                                             \
        const uint k = u/(2u*n);                                                                          \
        const uint b = 4u*(u/n%2u);                                                                       \
        const uint w = (base) + 1u + u%n/4u;                                                              \
        const uint n4 = n/4u;                                                                             \
        if (k < 3u) {                                                                                     \
            codes = BUF[w + n4*(k < 2u ? 2u*h + k : 4u + h)] >> b;                                        \
        } else {                                                                                          \
            codes = (BUF[w + n4*(2u*h)]      >> b + 3u & 0x01010101u)                                     \
                  | (BUF[w + n4*(2u*h + 1u)] >> b + 3u & 0x01010101u) << 1                                \
                  | (BUF[w + n4*(4u + h)]    >> b + 3u & 0x01010101u) << 2;                               \
        }                                                                                                 \
    }                                                                                                     \
    for (int l = 0; l < 4; ++l) {                                                                         \
        const uint code = codes >> 8*l;                                                                   \
        result[l] = step_*(turbo_is_four(type) ? turbo4_level(code) : turbo3_level(code));                \
    }                                                                                                     \
}

#endif
