#include "rope-stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using complex = std::complex<double>;

constexpr double full_turn = 6.283185307179586;
constexpr uint32_t shallowest = 512; // tokens; less is no long context, and the prompt alone fills it

// Average of e^(i theta p) over p = 0 .. n - 1.
complex average_turn(double theta, uint32_t n) {
    const double half = std::remainder(theta, full_turn) / 2;
    const double size = std::abs(half) < 1e-12 ? 1.0 : std::sin(half * n) / (n * std::sin(half));
    return size * std::polar(1.0, half * (n - 1)); // a negative length is not std::polar's
}

// The mean over the positions of each depth and of all, for a pair whose mean at position 0 is 1.
struct turned_mean {
    complex all;   // averaged over the depths
    double keep;  // what of it helps at every depth

    turned_mean(complex turn, const std::vector<uint32_t> & depths) {
        std::vector<complex> at;
        for (const uint32_t n : depths) {
            at.push_back(std::abs(turn) * average_turn(std::arg(turn), n));
            all += at.back() / double(depths.size());
        }
        // taking s times `all` off leaves |at|^2 - s*|all|^2*(2*along - s), along = at . all / |all|^2: least at s = along
        keep = std::norm(all) > 0 ? 1 : 0;
        for (const complex & one : at) {
            keep = std::min(keep, std::max(0.0, (std::conj(all) * one).real() / std::norm(all)));
        }
    }
};

// Average over the blocks of each depth of e^(i theta p), p the middle of a block.
complex average_of_middles(double theta, uint32_t block, const std::vector<uint32_t> & depths) {
    complex sum = 0;
    for (const uint32_t n : depths) {
        sum += std::polar(1.0, theta * (block / 2)) * average_turn(theta * block, std::max(1u, n / block));
    }
    return sum / double(depths.size());
}

// Average over a block of what a position does beyond the middle.
complex average_in_block(double theta, uint32_t block) {
    return std::polar(1.0, -theta * (block / 2)) * average_turn(theta, block);
}

double after_noise(double noise_sq, double mean_sq) { return mean_sq > noise_sq ? 1 - noise_sq / mean_sq : 0; }

} // namespace

std::vector<uint32_t> turbo_depths(uint32_t n_positions) {
    std::vector<uint32_t> depths;
    for (uint64_t n = shallowest; n < n_positions; n *= 2) { depths.push_back(uint32_t(n)); }
    depths.push_back(std::max(1u, n_positions));
    return depths;
}

turbo_rope_stats::turbo_rope_stats(uint32_t heads, uint32_t dim, turbo_rope turned_by)
    : n_head(heads), head_dim(dim), rope(std::move(turned_by)), channels(size_t(heads) * dim),
      cross(heads * rope.turn.size()), seen(heads) {}

void turbo_rope_stats::add(uint32_t head, const float * row, uint32_t pos) {
    const size_t n_pair = rope.turn.size();
    if (back.size() != n_pair || pos != back_from) {
        // the heads of a token share it
        back_from = pos;
        back.resize(n_pair);
        std::transform(rope.turn.begin(), rope.turn.end(), back.begin(),
            [&](const complex & turn) { return std::polar(1 / std::abs(turn), -std::arg(turn) * pos); });
    }
    values.assign(row, row + head_dim);
    for (uint32_t j = 0; j < n_pair; ++j) {
        double & x = values[rope.first(j)];
        double & y = values[rope.second(j)];
        const complex one = complex(x, y) * back[j];
        x = one.real();
        y = one.imag();
        cross[head * n_pair + j] += x * y;
    }
    const bool block_ends = ++seen[head] % block_size == 0;
    for (uint32_t i = 0; i < head_dim; ++i) {
        channel & to = channels[size_t(head) * head_dim + i];
        to.sum += values[i];
        to.sum_sq += values[i] * values[i];
        to.block += values[i];
        if (block_ends) {
            to.block_sq += (to.block / block_size) * (to.block / block_size);
            to.block = 0;
        }
    }
    ++n_rows;
}

double turbo_rope_stats::mean_energy(uint32_t n) const {
    std::vector<double> size_sq(head_dim, 1.0); // of what RoPE does, which was taken off with it
    for (uint32_t j = 0; j < rope.turn.size(); ++j) {
        size_sq[rope.first(j)] = size_sq[rope.second(j)] = std::norm(rope.turn[j]);
    }
    double sum = 0;
    for (uint32_t head = 0; head < n_head; ++head) {
        for (uint32_t i = 0; i < n; ++i) {
            const double one = mean(size_t(head) * head_dim + i);
            sum += size_sq[i] * one * one;
        }
    }
    return sum;
}

double turbo_rope_stats::noise_sq(size_t i) const {
    const uint64_t n_block = per_head() / block_size;
    if (n_block < 2) {
        return std::numeric_limits<double>::infinity(); // too short a text to tell
    }
    const double of_blocks =
        channels[i].block_sq / double(n_block) - mean(i) * mean(i); // rows of an unfinished block add to it
    return std::max(0.0, of_blocks) / double(n_block - 1);
}

turbo_window_stats turbo_rope_stats::over(const turbo_rope & there, const std::vector<uint32_t> & depths) const {
    turbo_window_stats res;
    res.mean_sq.resize(channels.size());
    res.constant.resize(channels.size());
    res.residual.resize(channels.size());
    const auto set = [&](size_t i, double mean_sq, double mean, double constant) {
        res.mean_sq[i] = float(mean_sq);
        res.constant[i] = float(constant);
        res.residual[i] = float(std::max(0.0, mean_sq - 2 * constant * mean + constant * constant));
    };
    const uint32_t n_pair = uint32_t(rope.turn.size());
    std::vector<turned_mean> turned;
    std::vector<complex> turned_sq; // average of the square of what a position does
    for (const complex & turn : there.turn) {
        turned.emplace_back(turn, depths);
        turned_sq.push_back(turned_mean(turn * turn, depths).all);
    }
    for (uint32_t head = 0; head < n_head; ++head) {
        const size_t first = size_t(head) * head_dim;
        for (uint32_t j = 0; j < n_pair; ++j) {
            const size_t x = first + rope.first(j);
            const size_t y = first + rope.second(j);
            const complex mean_at0 = { mean(x), mean(y) };
            const complex mean_all = mean_at0 * turned[j].all;
            const complex constant =
                mean_all * turned[j].keep * after_noise(noise_sq(x) + noise_sq(y), std::norm(mean_at0));
            // of kappa: E |kappa|^2 and E kappa^2; |z|^2 + Re z^2 = 2 (Re z)^2
            const double size_sq = (mean_sq(x) + mean_sq(y)) * std::norm(there.turn[j]);
            const complex square =
                complex(mean_sq(x) - mean_sq(y), 2 * cross[head * n_pair + j] / double(per_head())) * turned_sq[j];
            set(x, (size_sq + square.real()) / 2, mean_all.real(), constant.real());
            set(y, (size_sq - square.real()) / 2, mean_all.imag(), constant.imag());
        }
        double mean_of_still = 0, noise_of_still = 0;
        for (size_t i = first + 2 * n_pair; i < first + head_dim; ++i) {
            mean_of_still += mean(i) * mean(i);
            noise_of_still += noise_sq(i);
        }
        const double keep = after_noise(noise_of_still, mean_of_still);
        for (size_t i = first + 2 * n_pair; i < first + head_dim; ++i) { set(i, mean_sq(i), mean(i), keep * mean(i)); }
    }
    return res;
}

turbo_window_stats turbo_rope_stats::in_blocks(
    const turbo_rope & there, const std::vector<uint32_t> & depths, uint32_t block) const {
    constexpr double least = 0.25; // of a mean: below, less than a sixteenth of its energy could be taken off
    turbo_window_stats res = over(there, depths); // channels that do not turn are as they were
    const uint32_t n_pair = uint32_t(rope.turn.size());
    for (uint32_t j = 0; j < n_pair; ++j) {
        const double theta = std::arg(there.turn[j]);
        const double size_sq = std::norm(there.turn[j]);
        const complex once = average_in_block(theta, block), twice = average_in_block(2 * theta, block);
        const complex middles = average_of_middles(2 * theta, block, depths);
        for (uint32_t head = 0; head < n_head; ++head) {
            const size_t x = size_t(head) * head_dim + rope.first(j), y = size_t(head) * head_dim + rope.second(j);
            const complex mu = { mean(x), mean(y) };
            const double keep = std::abs(once) < least ? 0 : after_noise(noise_sq(x) + noise_sq(y), std::norm(mu));
            const complex constant = keep * once * mu;
            const complex square =
                complex(mean_sq(x) - mean_sq(y), 2 * cross[head * n_pair + j] / double(per_head())) * twice;
            // of what is left, turned back by the middle of its block
            const double left =
                mean_sq(x) + mean_sq(y) - 2 * (std::conj(constant) * once * mu).real() + std::norm(constant);
            const double along = (middles * (square - 2.0 * constant * once * mu + constant * constant)).real();
            res.constant[x] = float(constant.real());
            res.constant[y] = float(constant.imag());
            res.residual[x] = float(size_sq * std::max(0.0, left + along) / 2);
            res.residual[y] = float(size_sq * std::max(0.0, left - along) / 2);
        }
    }
    return res;
}
