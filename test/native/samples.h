// Test data shared by the cases.
#pragma once

#include "ggml-cpu.h"
#include "ggml-turbo.h"
#include "turbo-codec.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

// Types by turbo_format_id.
const ggml_type TURBO_TYPES[TURBO_FORMAT_COUNT] = {
#define TYPE_OF_FORMAT(ID, name, group) GGML_TYPE_##ID,
    TURBO_EACH_TYPE(TYPE_OF_FORMAT)
};

inline std::vector<float> gaussian(size_t n, float sigma = 1.0f, unsigned seed = 1) {
    std::mt19937 rng(seed);
    std::normal_distribution<float> dist(0.0f, sigma);
    std::vector<float> x(n);
    for (float & v : x) { v = dist(rng); }
    return x;
}

// Blocks for n values like those of x, which are as the cache would store them but for a trellis: there any codes are a path, so
// that all blocks have the scales of the first, which is encoded, and codes of chance. An encoder takes far too long for so many.
inline void quantize_row(ggml_type type, const std::vector<float> & x, void * blocks) {
    const bool trellis = ggml_turbo_without_trellis(type) != type;
    const size_t group = ggml_blck_size(type);
    ggml_get_type_traits_cpu(type)->from_float(x.data(), blocks, trellis ? group : x.size());
    if (!trellis) { return; }
    std::mt19937 rng((unsigned) (x[0] * 1e6f));
    uint8_t * block = (uint8_t *) blocks;
    const size_t size = ggml_type_size(type);
    for (size_t i = 1; i < x.size() / group; ++i) {
        memcpy(block + i * size, block, sizeof(turbo_block_head));
        for (size_t b = sizeof(turbo_block_head); b < size; ++b) { block[i * size + b] = (uint8_t) rng(); }
    }
}

// Rows of n values that quantizers stumble over: n is a multiple of every group.
inline std::vector<std::vector<float>> awkward_rows(size_t n) {
    const auto row = [n](auto && value) {
        std::vector<float> x(n);
        for (size_t i = 0; i < n; ++i) { x[i] = value(i); }
        return x;
    };
    return {
        row([](size_t) { return 0.0f; }),
        row([](size_t) { return -0.0f; }),
        row([](size_t) { return 1.0f; }),
        row([](size_t) { return -3.5f; }),
        row([](size_t i) { return i % 2 ? 1.0f : -1.0f; }),
        row([](size_t i) { return i == 5 ? 100.0f : 0.0f; }),                       // one spike
        row([](size_t i) { return i % 64 == 63 ? -1000.0f : 0.001f * (i + 1); }),     // spike over small values
        row([](size_t i) { return i < 32 ? 1e-3f * (i + 1) : 10.0f * (i + 1); }),       // quarters of unlike energy
        row([](size_t i) { return 0.1f + 2.0f * cosf(i); }),
        row([](size_t i) { return 1e-9f * (i + 1); }),                                // below any fp16 scale
        row([](size_t i) { return 1e-6f * (i + 1); }),                                // fp16 subnormal scale
        row([](size_t i) { return 65504.0f * (i % 3 - 1.0f); }),                      // fp16 limit
        row([](size_t i) { return (i % 2 ? 1 : -1) * 3e38f; }),                       // saturates
        row([](size_t i) { return i == 7 ? -INFINITY : 1.0f; }),
    };
}

struct decoded {
    std::vector<uint8_t> bytes;
    std::vector<float> values;
};

inline decoded round_trip(const turbo_kernels & kern, turbo_format_id id, const std::vector<float> & x) {
    const turbo_format & f = turbo_formats[id];
    decoded d = { std::vector<uint8_t>(x.size() / f.group * f.block_size), std::vector<float>(x.size()) };
    turbo_quantize(&kern, id, x.data(), d.bytes.data(), x.size());
    kern.to_float[id](d.bytes.data(), d.values.data(), x.size());
    return d;
}

// mean squared error relative to the mean square of x
inline double relative_mse(const std::vector<float> & x, const std::vector<float> & y) {
    double error = 0.0;
    double power = 0.0;
    for (size_t i = 0; i < x.size(); ++i) {
        error += double(x[i] - y[i]) * (x[i] - y[i]);
        power += double(x[i]) * x[i];
    }
    return error / power;
}
