// The quantizer of native/turbo/codec/turbo-quantize.c for one group of values, a thread for each: the same whole-number search, the same
// bytes. Vulkan rounds sums and products to nearest, but division and square root only nearly: those are corrected in whole numbers.
// `precise` keeps products and sums apart. Included by the kernels that store rows of a cache, which own its buffer data_q.

#include "blocks.glsl"

layout (constant_id = 0) const uint TYPE  = TURBO4;
layout (constant_id = 1) const uint GROUP = 128; // turbo_group(TYPE)
layout (local_size_x_id = 1) in;

// vk_op_binary_push_constants
#define BINARY_PARAMETERS                                                                                 \
    uint ne;                                                                                              \
    uint ne00, ne01, ne02, ne03, nb00, nb01, nb02, nb03;                                                  \
    uint ne10, ne11, ne12, ne13, nb10, nb11, nb12, nb13;                                                  \
    uint ne20, ne21, ne22, ne23, nb20, nb21, nb22, nb23;                                                  \
    uint misalign_offsets;                                                                                \
    float param1, param2;                                                                                 \
    int param3;

const bool FOUR    = TYPE == TURBO4 || TYPE == TURBO4_64;
const uint LEVELS  = FOUR ? 8 : 4;
const uint QUARTER = GROUP/4;
const uint WORDS   = 1 + GROUP*(FOUR ? 4 : 3)/32;

const float D_OF_RMS = FOUR ? 1.0515 : 0.8642;
const float UNIT     = 1.0/8192.0;
const uint  SATURATE = 0x48800000u; // 2^18
const float FP16_MAX = 65504.0;

int level_of(uint k) {
    return int(FOUR ? turbo4_level(k) : turbo3_level(k));
}

// --- IEEE arithmetic of positive normal numbers, rounded to nearest even

float compose(int exponent, uint mantissa, bool half_bit, bool rest) { // mantissa in [2^23, 2^24), times 2^(exponent - 23)
    mantissa += half_bit && (rest || (mantissa & 1u) != 0u) ? 1u : 0u;
    return uintBitsToFloat((uint(exponent + 127) << 23) + (mantissa - 0x800000u)); // a carry goes into the exponent
}

// The quotient of two mantissas to 25 bits: floats come within a few units of it (Vulkan allows 2.5 units in the last place), the
// remainder in whole numbers says the rest.
float exact_divide(float a, float b) {
    uint n = floatBitsToUint(a) & 0x7fffffu | 0x800000u;
    const uint m = floatBitsToUint(b) & 0x7fffffu | 0x800000u;
    int e = int(floatBitsToUint(a) >> 23) - int(floatBitsToUint(b) >> 23);
    if (n < m) {
        n <<= 1;
        e -= 1;
    }
    uint q = uint(float(n)/float(m)*16777216.0);
    int rest = int((n << 24) - q*m); // n * 2^24 - q * m, known to be small
    while (rest < 0) {
        rest += int(m);
        q -= 1u;
    }
    while (rest >= int(m)) {
        rest -= int(m);
        q += 1u;
    }
    return compose(e, q >> 1, (q & 1u) != 0u, rest != 0);
}

// The same for the root of m * 2^25 (49 or 50 bits) to 25 bits.
float exact_sqrt(float x) {
    const uint bits = floatBitsToUint(x);
    int e = int(bits >> 23) - 127;
    uint m = bits & 0x7fffffu | 0x800000u;
    if ((e & 1) != 0) {
        m <<= 1;
        e -= 1;
    }
    uint root = uint(sqrt(float(m))*5792.61875148);
    int rest = int((m << 25) - root*root);
    while (rest < 0) {
        root -= 1u;
        rest += int(2u*root + 1u);
    }
    while (rest > int(2u*root)) {
        rest -= int(2u*root + 1u);
        root += 1u;
    }
    return compose(e/2, root >> 1, (root & 1u) != 0u, rest != 0);
}

// high * 2^16 + low for high < 2^31 and any low, not 0
float exact_float(uint high, uint low) {
    high += low >> 16;
    low = high << 16 | low & 0xffffu;
    high >>= 16;
    const int top = high != 0u ? findMSB(high) + 32 : findMSB(low);
    const int shift = 31 - (top & 31);
    // the highest bit becomes bit 31 of the first word
    const uint word = top < 32 ? low << shift : shift == 0 ? high : high << shift | low >> 32 - shift;
    const uint rest = top < 32 ? 0u : low << shift;
    return compose(top, word >> 8, (word & 128u) != 0u, (word & 127u | rest) != 0u);
}

// To fp16 bits, to nearest even; a positive number up to FP16_MAX.
uint exact_half(float x) {
    const uint bits = floatBitsToUint(x);
    const int  e = int(bits >> 23) - 127;
    const uint m = bits & 0x7fffffu | 0x800000u;
    const int  drop = e >= -14 ? 13 : 13 + (-14 - e); // below 2^-14 they are denormal
    if (drop > 24) {
        return 0u;
    }
    uint h = m >> drop;
    const uint below = m & (1u << drop) - 1u;
    const uint tie   = 1u << (drop - 1);
    if (below > tie || below == tie && (h & 1u) != 0u) {
        h += 1u;
    }
    return e >= -14 ? (uint(e + 14) << 10) + h : h;
}

// --- the quantizer

shared float a_sh[GROUP];
shared int   whole_sh[GROUP];
shared float sum_sh[16];
shared ivec2 part_sh[GROUP];  // dot and norm of a part of a quarter under a sub-scale
shared float error_sh[GROUP];
shared ivec3 best_sh[4];      // sub-scale, dot and norm of the best of each quarter
shared uint  code_sh[GROUP];
shared uint  nan_sh;

// The group times the Walsh-Hadamard matrix, in the order of sums of upstream's fwht.comp.
float rotate(float x, uint thread) {
    precise float value = x*(GROUP == 64 ? 0.125 : 0.08838834764831845); // Vulkan's root is not exact
    [[unroll]] for (uint h = 1u, turn = 0u; h < GROUP; h <<= 1u, ++turn) {
        // two arrays in turn: a value is read before the next but one barrier
        float other;
        if (turn%2u == 0u) {
            a_sh[thread] = value;
            barrier();
            other = a_sh[thread ^ h];
        } else {
            error_sh[thread] = value;
            barrier();
            other = error_sh[thread ^ h];
        }
        precise const float sum = (thread & h) == 0u ? value + other : other - value;
        value = sum;
    }
    barrier();
    return value;
}

// The best of the sub-scales first, first + every, ... for each quarter, and the d of least squares for them. The threads of a quarter
// share its sub-scales, and the values under each. Every round runs the same instructions: it is called once a token and layer, and what it
// costs is to fetch them.
float refit(float d, uint first, uint every, uint thread) {
    precise const float unit4 = 4.0*UNIT*d;
    const float inv = exact_divide(1.0, unit4);
    precise const float scaled = a_sh[thread]*inv;
    precise const float rounded = scaled + 0.5;
    whole_sh[thread] = int(min(rounded, 32767.0));
    barrier();

    const uint tries = 16u/every; // and values of a thread
    const uint parts = QUARTER*every/16u;
    const uint q     = thread/QUARTER*QUARTER;
    const uint at    = thread%QUARTER;
    const uint part  = at & parts - 1u;
    const uint s     = first + (at >> findLSB(parts))*every;
    const int  mult  = int(135u + 8u*s);
    int thresholds[LEVELS - 1];
    [[unroll]] for (uint k = 0; k + 1 < LEVELS; ++k) {
        thresholds[k] = ((level_of(k) + level_of(k + 1))*mult + 128 >> 8) - 1;
    }
    int dot_ = 0, norm = 0;
    [[dont_unroll]] for (uint i = 0u; i < tries; i += 4u) {
        [[unroll]] for (uint j = 0u; j < 4u; ++j) {
            const int x = whole_sh[q + (i + j)*parts + part];
            const int y = x >> 5;
            int level = level_of(0);
            [[unroll]] for (uint k = 0; k + 1 < LEVELS; ++k) {
                level += y > thresholds[k] ? level_of(k + 1) - level_of(k) : 0;
            }
            dot_ += x*level;
            norm += level*level;
        }
    }
    part_sh[thread] = ivec2(dot_, norm);
    barrier();
    if (part == 0u) {
        [[dont_unroll]] for (uint i = 1u; i < parts; ++i) {
            dot_ += part_sh[thread + i].x;
            norm += part_sh[thread + i].y;
        }
        part_sh[thread] = ivec2(dot_, norm);
        precise const float cost = float(mult*norm - 8*dot_);
        precise const float error = cost*float(mult);
        error_sh[thread] = error;
    }
    barrier();
    if (at == 0u) {
        uint b = thread;
        float least = error_sh[thread];
        [[dont_unroll]] for (uint i = parts; i < QUARTER; i += parts) { // of equals the first
            const float error = error_sh[thread + i];
            b = error < least ? thread + i : b;
            least = min(error, least);
        }
        best_sh[thread/QUARTER] = ivec3(first + (b - thread >> findLSB(parts))*every, part_sh[b]);
    }
    barrier();
    uint dot_high = 0u, dot_low = 0u, norm_high = 0u, norm_low = 0u;
    [[dont_unroll]] for (uint g = 0u; g < 4u; ++g) {
        const uint m  = uint(135 + 8*best_sh[g].x);
        const uint dt = uint(best_sh[g].y);
        const uint nm = uint(best_sh[g].z);
        dot_high  += m*(dt >> 16);
        dot_low   += m*(dt & 0xffffu);
        norm_high += m*m*(nm >> 16);
        norm_low  += m*m*(nm & 0x3fffu); // in two pieces: 16 bits of norm times 16 of m^2, four times, overflow
        norm_high += m*m*(nm >> 14 & 3u) >> 2;
        norm_low  += (m*m*(nm >> 14 & 3u) & 3u) << 14;
    }
    precise const float dot4 = 4.0*exact_float(dot_high, dot_low);
    const float ratio = exact_divide(dot4, exact_float(norm_high, norm_low));
    precise const float r = d*ratio;
    return r;
}

// Codes the group, rotated before or not, into the block at word `dst`; value: of this thread.
void store_group(float value, bool rotates, uint thread, uint dst) {
    if (thread == 0u) {
        nan_sh = 0u;
    }
    barrier();
    if (rotates) {
        value = rotate(value, thread);
    }
    const uint bits = floatBitsToUint(value);
    const float a = uintBitsToFloat(min(bits & 0x7fffffffu, SATURATE));
    a_sh[thread] = a;
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        nan_sh = 1u;
    }
    barrier();
    const bool nan = nan_sh != 0u;

    uint  d16 = 0x7e00u;
    float d = 0.0;
    if (!nan) {
        // 16 sums in the order of the index, then folded 8, 4, 2, 1
        if (thread < 16u) {
            precise float sum = 0.0;
            [[unroll]] for (uint i = 0u; i < GROUP; i += 16u) {
                const float x = a_sh[i + thread];
                precise const float square = x*x;
                sum += square;
            }
            sum_sh[thread] = sum;
        }
        barrier();
        float folded[16];
        [[unroll]] for (uint i = 0u; i < 16u; ++i) {
            folded[i] = sum_sh[i];
        }
        [[unroll]] for (uint fold = 8u; fold > 0u; fold /= 2u) {
            [[unroll]] for (uint i = 0u; i < fold; ++i) {
                precise const float sum = folded[i] + folded[i + fold];
                folded[i] = sum;
            }
        }
        const float mean = folded[0]*(1.0/float(GROUP)); // a power of two: exact
        d16 = 0u;
        if (mean > 1e-30) {
            precise const float guess = D_OF_RMS*exact_sqrt(mean);
            d = guess;
            d16 = exact_half(min(d, FP16_MAX));
        }
        if (d16 != 0u) {
            [[dont_unroll]] for (uint round_ = 0u; round_ < 2u; ++round_) {
                d = refit(d, 1u - round_, round_ == 0u ? 4u : 1u, thread);
            }
            d16 = exact_half(min(d, FP16_MAX));
        }
    }
    const bool coded = !nan && d16 != 0u;

    uint code = 0u;
    if (coded) {
        precise const float scale = unpackHalf2x16(d16).x*UNIT*float(135 + 8*best_sh[thread/QUARTER].x);
        const float inv = exact_divide(1.0, scale);
        precise const float v = a*inv;
        [[unroll]] for (uint l = 0; l + 1 < LEVELS; ++l) {
            code += v > 0.5*float(level_of(l) + level_of(l + 1)) ? 1u : 0u;
        }
        code |= (bits >> 31)*LEVELS;
    }
    code_sh[thread] = code;
    barrier();

    if (thread == 0u) {
        uint sub = 0u;
        if (coded) {
            for (uint q = 0u; q < 4u; ++q) {
                sub |= uint(best_sh[q].x) << 4u*q;
            }
        }
        data_q[dst] = d16 | sub << 16;
    }
    if (thread + 1u < WORDS) {
        const uint w = thread;
        uint word = 0u;
        if (FOUR) {
            for (uint i = 0u; i < 4u; ++i) {
                word |= (code_sh[4u*w + i] | code_sh[4u*w + i + GROUP/2u] << 4) << 8u*i;
            }
        } else {
            const uint n = GROUP/16u;
            for (uint i = 0u; i < 4u; ++i) {
                const uint at = 4u*w + i;              // byte of qs
                const uint piece = at/n;               // words of n bytes in the order 00 01 10 11 02 12 (half, word)
                const uint h = piece < 4u ? piece/2u : piece - 4u;
                const uint k = piece < 4u ? piece%2u : 2u;
                const uint j = at%n;
                // code of u = 2n*k + n*b + j, value u/16*32 + 16*h + u%16
                uint byte_ = 0u;
                for (uint b = 0u; b < 2u; ++b) {
                    const uint u = 2u*n*k + n*b + j;
                    const uint r = 6u*n + n*b + j;
                    byte_ |= code_sh[u/16u*32u + 16u*h + u%16u] << 4u*b;
                    byte_ |= (code_sh[r/16u*32u + 16u*h + r%16u] >> k & 1u) << 4u*b + 3u;
                }
                word |= byte_ << 8u*i;
            }
        }
        data_q[dst + 1u + w] = word;
    }
}
