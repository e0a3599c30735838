// Statistics of vectors that RoPE turns: what a few rows at some positions say of all positions of a context, against
// counting over all of them.

#include "check.h"
#include "samples.h"
#include "rope-stats.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

constexpr uint32_t n_head = 2;
constexpr uint32_t head_dim = 24;

// Pairs that turn fast and slowly, as those of models do; YaRN's factor is not 1 everywhere.
turbo_rope make_rope(bool neox, uint32_t n_pair, double magnitude = 1.0) {
    turbo_rope rope = { neox, {} };
    for (uint32_t j = 0; j < n_pair; ++j) {
        rope.turn.push_back(std::polar(magnitude, std::pow(1e4, -double(j) / n_pair)));
    }
    return rope;
}

std::vector<float> turned(const std::vector<float> & row, const turbo_rope & rope, uint32_t pos) {
    std::vector<float> res = row;
    for (uint32_t j = 0; j < rope.turn.size(); ++j) {
        const auto by = std::polar(std::abs(rope.turn[j]), std::arg(rope.turn[j]) * pos);
        const auto to = std::complex<double>(row[rope.first(j)], row[rope.second(j)]) * by;
        res[rope.first(j)] = float(to.real());
        res[rope.second(j)] = float(to.imag());
    }
    return res;
}

// Rows of one head before RoPE: a mean of each channel, and noise of that size.
std::vector<std::vector<float>> make_rows(uint32_t head, uint32_t n, float mean, float noise) {
    std::mt19937 rng(5 + head);
    std::normal_distribution<float> normal;
    std::vector<float> means(head_dim);
    for (float & value : means) { value = mean * normal(rng); }
    std::vector<std::vector<float>> rows(n, means);
    for (auto & row : rows) {
        for (float & value : row) { value += noise * normal(rng); }
    }
    return rows;
}

turbo_rope_stats read(const turbo_rope & rope, uint32_t n, float mean, float noise) {
    turbo_rope_stats stats(n_head, head_dim, rope);
    for (uint32_t head = 0; head < n_head; ++head) {
        const auto rows = make_rows(head, n, mean, noise);
        for (uint32_t i = 0; i < n; ++i) { stats.add(head, turned(rows[i], rope, i).data(), i); }
    }
    return stats;
}

// Sum over channels.
double total(const std::vector<float> & values) {
    double sum = 0;
    for (const float value : values) { sum += value; }
    return sum;
}

// The same from every row at every position below `depth`.
turbo_window_stats counted(
    const turbo_rope & rope, uint32_t n, float mean, float noise, uint32_t depth, const std::vector<float> & constant) {
    turbo_window_stats res;
    for (uint32_t head = 0; head < n_head; ++head) {
        std::vector<double> square(head_dim), residual(head_dim), sum(head_dim);
        for (const auto & row : make_rows(head, n, mean, noise)) {
            for (uint32_t pos = 0; pos < depth; ++pos) {
                const std::vector<float> at = turned(row, rope, pos);
                for (uint32_t i = 0; i < head_dim; ++i) {
                    const double left = at[i] - (constant.empty() ? 0.0 : constant[head * head_dim + i]);
                    sum[i] += at[i];
                    square[i] += double(at[i]) * at[i];
                    residual[i] += left * left;
                }
            }
        }
        for (uint32_t i = 0; i < head_dim; ++i) {
            res.constant.push_back(float(sum[i] / n / depth));
            res.mean_sq.push_back(float(square[i] / n / depth));
            res.residual.push_back(float(residual[i] / n / depth));
        }
    }
    return res;
}

} // namespace

TEST("statistics of a short text hold for all positions of a context") {
    constexpr uint32_t n = 48, depth = 700;
    for (const bool neox : { false, true }) {
        for (const uint32_t n_pair : { 0u, 8u, 12u }) {
            const turbo_rope rope = make_rope(neox, n_pair, 1.2);
            // without noise nothing is made shorter
            const turbo_window_stats exact = read(rope, n, 1.0f, 0.0f).over(rope, { depth });
            CHECK_LE(relative_mse(counted(rope, n, 1.0f, 0.0f, depth, {}).constant, exact.constant), 1e-9);

            const turbo_window_stats noisy = read(rope, n, 1.0f, 0.5f).over(rope, { depth });
            const turbo_window_stats all = counted(rope, n, 1.0f, 0.5f, depth, noisy.constant);
            CHECK_LE(relative_mse(all.mean_sq, noisy.mean_sq), 1e-9);
            CHECK_LE(relative_mse(all.residual, noisy.residual), 1e-9);
            CHECK(total(noisy.residual) < total(noisy.mean_sq));
        }
    }
}

TEST("a context with other angles is measured by its own") {
    const turbo_rope read_with = make_rope(true, 12);
    turbo_rope there = make_rope(true, 12, 1.1);
    for (auto & turn : there.turn) { turn *= std::polar(1.0, std::arg(turn) * 0.3); }
    const turbo_window_stats stats = read(read_with, 48, 1.0f, 0.0f).over(there, { 900 });
    CHECK_LE(relative_mse(counted(there, 48, 1.0f, 0.0f, 900, {}).constant, stats.constant), 1e-9);
}

TEST("a constant adds energy at none of the depths of its context") {
    const turbo_rope rope = make_rope(false, 12);
    const turbo_rope_stats stats = read(rope, 64, 1.0f, 0.0f);
    for (const uint32_t n_positions : { 4096u, 16384u }) {
        const std::vector<uint32_t> depths = turbo_depths(n_positions);
        const std::vector<float> whole = stats.over(rope, depths).constant;
        double least = 1;
        for (const uint32_t depth : depths) {
            const turbo_window_stats at = counted(rope, 1, 1.0f, 0.0f, depth, whole);
            for (uint32_t head = 0; head < n_head; ++head) {
                for (uint32_t j = 0; j < 12; ++j) {
                    const size_t x = head * head_dim + rope.first(j), y = head * head_dim + rope.second(j);
                    CHECK_LE(at.residual[x] + at.residual[y], (at.mean_sq[x] + at.mean_sq[y]) * (1 + 1e-5));
                }
            }
            least = std::min(least, 1 - total(at.residual) / total(at.mean_sq));
        }
        // and it is of some use at each
        CHECK(least > 0);
    }
}

TEST("noise is not taken for a mean") {
    const turbo_rope rope = make_rope(false, 8);
    const turbo_window_stats noise = read(rope, 512, 0.0f, 1.0f).over(rope, { 512 });
    const turbo_window_stats reported = read(rope, 512, 1.0f, 0.1f).over(rope, { 512 });
    double taken = 0, expected = 0;
    for (const float value : noise.constant) { taken += double(value) * value; }
    // the mean of 512 rows of noise has 1/512 of their energy; of that a good part is recognised as noise
    CHECK_LE(taken, 0.6 * total(noise.mean_sq) / 512);
    for (const float value : reported.constant) { expected += double(value) * value; }
    CHECK_LE(0.95 * (total(reported.mean_sq) - total(reported.residual)), expected);
    // a text of one block of rows shows no noise, so it proves nothing
    CHECK(total(read(rope, 20, 1.0f, 0.1f).over(rope, { 512 }).constant) == 0.0);
}

TEST("the longer mean shows whether rows were turned") {
    // with YaRN's factor, and a mean that lies in the pairs which hardly turn
    const turbo_rope rope = make_rope(true, 12, 1.2);
    for (const bool turns : { false, true }) {
        turbo_rope_stats turned_back(n_head, head_dim, rope), as_is(n_head, head_dim);
        for (uint32_t head = 0; head < n_head; ++head) {
            auto rows = make_rows(head, 256, 1.0f, 0.5f);
            for (uint32_t i = 0; i < rows.size(); ++i) {
                for (uint32_t j = 8; j < 12; ++j) { rows[i][rope.first(j)] += 2.0f; }
                const std::vector<float> row = turns ? turned(rows[i], rope, i) : rows[i];
                turned_back.add(head, row.data(), i);
                as_is.add(head, row.data(), i);
            }
        }
        CHECK((turned_back.mean_energy(head_dim) > as_is.mean_energy(head_dim)) == turns);
    }
}

TEST("depths of a context are the doublings of 512 and its own") {
    CHECK(turbo_depths(4096) == (std::vector<uint32_t>{ 512, 1024, 2048, 4096 }));
    CHECK(turbo_depths(1500) == (std::vector<uint32_t>{ 512, 1024, 1500 }));
    CHECK(turbo_depths(100) == (std::vector<uint32_t>{ 100 }));
}
