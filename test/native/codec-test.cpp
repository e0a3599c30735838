// The reference codec against bounds that follow from the format.

#include "check.h"
#include "samples.h"

#include "ggml.h"

#include <cmath>
#include <cstring>

// A Gaussian quantized with fixed Lloyd-Max levels loses .00950 (16 levels) or .03455 (8 levels) of its energy;
// sub-scales can only lower that, since multiplier 1 (s = 6.6, between .976 and 1.019) is nearly among the
// sixteen: being off by at most 2.1% costs less than .0005. No code can beat the rate-distortion function
// 2^(-2R): at 4.25 and 3.25 bits (4.5 and 3.5 in the _64 types) .0028 and .0110 (.0020 and .0078).
// Between these lies what a search over the sub-scales gives: measured .0060, .0256, .0050, .0213.
// The test holds them to 2%: the standard error of the mean over 2^18 values is .3%.
TEST("Gaussian data: mean squared error per type") {
    const double expected[TURBO_FORMAT_COUNT] = { 0.00600, 0.02563, 0.00495, 0.02133 };
    const double floor[TURBO_FORMAT_COUNT] = { 0.0028, 0.0110, 0.0020, 0.0078 };
    const double ceiling[TURBO_FORMAT_COUNT] = { 0.0100, 0.0350, 0.0100, 0.0350 };
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        for (float sigma : { 1e-3f, 1.0f, 3000.0f }) {
            const std::vector<float> x = gaussian(1 << 18, sigma);
            const double mse = relative_mse(x, round_trip(turbo_kernels_ref, turbo_format_id(id), x).values);
            CHECK_LE(floor[id], mse);
            CHECK_LE(mse, ceiling[id]);
            CHECK_LE(std::fabs(mse / expected[id] - 1.0), 0.02);
        }
    }
}

TEST("zero rows are stored as zero bytes, tiny ones too") {
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        for (float value : { 0.0f, -0.0f, 1e-30f, 1e-45f, 1e-9f }) {
            const decoded d =
                round_trip(turbo_kernels_ref, turbo_format_id(id), std::vector<float>(TURBO_GROUP, value));
            for (uint8_t byte : d.bytes) { CHECK(byte == 0); }
        }
    }
}

// All values of a group share one level, so least squares fits them exactly up to the rounding of d to fp16,
// whose relative error is at most 2^-11.
TEST("constant rows come back to fp16 precision") {
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        for (float value : { 1.0f, -0.37f, 1000.0f }) {
            const decoded d =
                round_trip(turbo_kernels_ref, turbo_format_id(id), std::vector<float>(TURBO_GROUP, value));
            for (float y : d.values) { CHECK_LE(std::fabs(y - value), std::fabs(value) * (1.0f / 2048 + 1e-6f)); }
        }
    }
}

// The largest value of a block: 65504 * 2^-13 * 255 * 111 = 226,333.
TEST("huge values saturate, output is finite") {
    const float largest = 65504.0f * TURBO_UNIT * 255 * 111;
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        for (const std::vector<float> & x : awkward_rows(256)) {
            for (float y : round_trip(turbo_kernels_ref, turbo_format_id(id), x).values) {
                CHECK(std::isfinite(y));
                CHECK_LE(std::fabs(y), largest);
            }
        }
        const decoded d = round_trip(turbo_kernels_ref, turbo_format_id(id), std::vector<float>(TURBO_GROUP, -3e38f));
        CHECK_LE(d.values[0], -65504.0f);
    }
}

TEST("values up to the fp16 limit keep the error of their type") {
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        const std::vector<float> x = gaussian(1 << 14, 16000.0f); // 4 sigma = 64,000
        CHECK_LE(
            relative_mse(x, round_trip(turbo_kernels_ref, turbo_format_id(id), x).values), id % 2 ? 0.028 : 0.0066);
    }
}

TEST("a NaN makes its own group NaN and no other") {
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        const int group = turbo_formats[id].group;
        std::vector<float> x = gaussian(3 * group);
        x[group + 3] = NAN;
        const decoded d = round_trip(turbo_kernels_ref, turbo_format_id(id), x);
        for (int i = 0; i < 3 * group; ++i) { CHECK(std::isnan(d.values[i]) == (i / group == 1)); }
    }
}

// q8_0 rounds each activation by at most 1/254 of the largest in its block of 32, and the dot product of the
// codec is exact but for fp32 sums, so against the decoded values in double only the q8_0 error remains if the
// activations are taken unrounded; taken as the q8_0 values themselves, fp32 rounding of 4 products per group.
TEST("dot product equals the decoded values times the q8_0 values") {
    const int n = 1024;
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        const decoded d = round_trip(turbo_kernels_ref, turbo_format_id(id), gaussian(n));
        const std::vector<float> q = gaussian(n, 1.0f, 2);
        std::vector<turbo_block_q8> q8(n / TURBO_Q8_BLOCK);
        ggml_quantize_chunk(GGML_TYPE_Q8_0, q.data(), q8.data(), 0, 1, n, nullptr);
        double expected = 0.0;
        double size = 0.0;
        for (int i = 0; i < n; ++i) {
            const double product = double(d.values[i]) * ggml_fp16_to_fp32(q8[i / 32].d) * q8[i / 32].qs[i % 32];
            expected += product;
            size += std::fabs(product);
        }
        float dot;
        turbo_kernels_ref.vec_dot[id](n, &dot, 0, d.bytes.data(), 0, q8.data(), 0, 1);
        // each of the n/16 terms at most is rounded a few times, each time by 2^-24 of the sum so far
        CHECK_LE(std::fabs(dot - expected), size * 4 * (n / 16) * std::ldexp(1.0, -24));
    }
}
