// Statistics of vectors that RoPE turns, freed of the positions at which they were taken: what a short text says of a
// context of any depth. No model and no graph here; calibrate.cpp feeds it.
//
// RoPE at position p multiplies the pair of channels j, read as a complex number, by m_j e^(i theta_j p) (Su et al. 2021,
// https://arxiv.org/abs/2104.09864; m_j: YaRN's factor). A key k(p) = m e^(i theta p) kappa with E kappa = mu so has the mean
// m e^(i theta p) mu, and over the positions below D the mean mu m A(theta, D), A the average of e^(i theta p).
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

// The RoPE of one layer in one context. Without angles: nothing turns.
struct turbo_rope {
    bool neox = false; // pair j: channels j and j + n_pair; otherwise 2j and 2j + 1
    std::vector<std::complex<double>> turn; // [n_pair] m_j e^(i theta_j): what one position does

    uint32_t first(uint32_t j) const { return neox ? j : 2 * j; }
    uint32_t second(uint32_t j) const { return neox ? j + uint32_t(turn.size()) : 2 * j + 1; }
};

// Per channel, over all positions of a context.
struct turbo_window_stats {
    std::vector<float> mean_sq; // E x^2
    std::vector<float> constant; // what is to be taken off
    std::vector<float> residual; // E (x - constant)^2
};

// The position by which block b is turned.
inline int32_t turbo_block_middle(uint32_t b, uint32_t block) { return int32_t(b * block + block / 2); }

// The depths that a context of n_positions is measured by: 512 and its doubles, and n_positions. A deep context is mostly
// used at a fraction of its depth, so each doubling counts the same.
std::vector<uint32_t> turbo_depths(uint32_t n_positions);

// Sums over rows of n_head x head_dim values, in double.
class turbo_rope_stats {
public:
    turbo_rope_stats() = default;
    turbo_rope_stats(uint32_t heads, uint32_t dim, turbo_rope turned_by = {});

    // One head's vector, float[head_dim], that RoPE has turned for this position.
    void add(uint32_t head, const float * row, uint32_t pos);

    uint64_t n() const { return n_rows; }

    // Squared length of the means of the first n channels of each head, as long as RoPE leaves them. By it two readings of the
    // same rows are compared: the one that knows how they were turned has the longer mean.
    double mean_energy(uint32_t n) const;

    // What holds in a context with this RoPE (the one of the constructor, or its long factors), measured by these depths.
    //
    // constant: the mean over the positions, averaged over the depths, and shortened twice. By its noise: the mean of n rows has
    // a standard error, which the spread of blocks of rows tells; 1 - error^2 / mean^2 of it is left, and nothing where the
    // error is as large as the mean (of a RoPE pair; of all channels of a head that do not turn). By the depth: to the
    // length that is best at that of the depths where it helps least, and to nothing where it would add energy there.
    turbo_window_stats over(const turbo_rope & rope, const std::vector<uint32_t> & depths) const;

    // The same where what is taken off turns with the keys, by the middle of the block of `block` positions that theirs lies in
    // (turbo_block_middle).
    //
    // constant: as it is at position 0. The mean of a block is shorter than the mean of one position, by the more the
    // faster a pair turns; a pair of which little would be left keeps all.
    turbo_window_stats in_blocks(const turbo_rope & rope, const std::vector<uint32_t> & depths, uint32_t block) const;

private:
    struct channel {
        double sum = 0, sum_sq = 0;
        double block = 0, block_sq = 0; // sum of the block being read; sum over blocks of the square of their mean
    };

    static constexpr uint32_t block_size = 16; // rows of one head; neighbors in a text are not independent

    double mean(size_t i) const { return channels[i].sum / double(per_head()); }
    double mean_sq(size_t i) const { return channels[i].sum_sq / double(per_head()); }
    double noise_sq(size_t i) const; // square of the standard error of the mean
    uint64_t per_head() const { return n_rows / n_head; }

    uint32_t n_head = 0;
    uint32_t head_dim = 0;
    turbo_rope rope;
    uint64_t n_rows = 0;
    std::vector<channel> channels; // [n_head][head_dim], turned back
    std::vector<double> cross; // [n_head][n_pair]: sum of the product of both channels
    std::vector<uint64_t> seen; // [n_head]

    std::vector<std::complex<double>> back; // [n_pair] what turns back from this position
    uint32_t back_from = 0;
    std::vector<double> values; // of the row at hand, turned back
};
