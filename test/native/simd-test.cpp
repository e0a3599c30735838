// Every SIMD level of this machine against the reference.

#include "check.h"
#include "samples.h"

#include "ggml.h"

#include <cmath>
#include <cstring>

static bool same_bits(const std::vector<float> & a, const std::vector<float> & b) {
    return memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

static void check_quantizer_and_decoder(const turbo_kernels & kern) {
    std::vector<std::vector<float>> rows = awkward_rows(256);
    for (unsigned seed = 1; seed <= 200; ++seed) {
        rows.push_back(gaussian(256, std::ldexp(1.0f, int(seed % 30) - 15), seed));
    }
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        for (const std::vector<float> & x : rows) {
            const decoded ref = round_trip(turbo_kernels_ref, turbo_format_id(id), x);
            const decoded got = round_trip(kern, turbo_format_id(id), x);
            CHECK(ref.bytes == got.bytes);
            CHECK(same_bits(ref.values, got.values));
        }
    }
}

// Every bit pattern of a block is a valid code, so random bytes reach all indices, signs and sub-scales.
static void check_random_blocks(const turbo_kernels & kern) {
    std::mt19937 rng(3);
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        const turbo_format & f = turbo_formats[id];
        const int n = 64 * 128;
        std::vector<uint8_t> blocks(n / f.group * f.block_size);
        std::vector<turbo_block_q8> q8(n / TURBO_Q8_BLOCK);
        for (uint8_t & byte : blocks) { byte = rng(); }
        for (int i = 0; i < n / f.group; ++i) {
            const uint16_t d = ggml_fp32_to_fp16(std::ldexp(1.0f + rng() % 1000 / 1000.0f, int(rng() % 12) - 6));
            memcpy(blocks.data() + i * f.block_size, &d, sizeof(d));
        }
        for (turbo_block_q8 & b : q8) {
            b.d = ggml_fp32_to_fp16(rng() % 1000 / 1000.0f);
            for (int8_t & q : b.qs) {
                q = int(rng() % 255) - 127; // -128 does not occur in q8_0
            }
        }

        std::vector<float> ref(n);
        std::vector<float> got(n);
        turbo_kernels_ref.to_float[id](blocks.data(), ref.data(), n);
        kern.to_float[id](blocks.data(), got.data(), n);
        CHECK(same_bits(ref, got));

        for (int len = f.group; len <= n; len *= 2) {
            double size = 0.0;
            for (int i = 0; i < len; ++i) {
                size += std::fabs(double(ref[i]) * ggml_fp16_to_fp32(q8[i / 32].d) * q8[i / 32].qs[i % 32]);
            }
            float a;
            float b;
            turbo_kernels_ref.vec_dot[id](len, &a, 0, blocks.data(), 0, q8.data(), 0, 1);
            kern.vec_dot[id](len, &b, 0, blocks.data(), 0, q8.data(), 0, 1);
            // integer sums are exact; each of the len/16 scaled terms is rounded up to four times on either side,
            // each time by at most 2^-24 of the absolute sum
            CHECK_LE(std::fabs(a - b), size * 8 * (len / 16) * std::ldexp(1.0, -24));
        }
    }
}

// Levels of this build that this CPU has.
static void for_each_level(void (*check_level)(const turbo_kernels &)) {
    int n = 0;
    for (const char * level : { "avx2", "avx512", "neon" }) {
        const turbo_kernels * kernels = turbo_kernels_at(level);
        if (kernels != nullptr) {
            check_level(*kernels);
            ++n;
        }
    }
    if (n == 0) { skip("only scalar code here"); }
}

TEST("SIMD levels: same bytes, same values") { for_each_level(check_quantizer_and_decoder); }

TEST("SIMD levels: random blocks") { for_each_level(check_random_blocks); }
