// Trains the tables of native/turbo/codec/turbo-trellis.h on Gaussian groups, with the codec's own quantizer, and prints the file.
// Not a test: the tables are the format and stay. Run as `node test/native/trellis/train.mjs`.
//
// Each round quantizes new groups and gives every entry the mean, weighted with the square of its block's scale, of what is left of
// the values that used it (Lloyd's algorithm; own and before in turns). Entries are rounded to int8 for the quantizer only. Where
// it ends depends on where it begins, so that there are many beginnings, each trained without sub-scales first, with a path search of
// its own that takes tables of floats of any size; the few best are trained on.

#include "turbo-codec.h"

#include "ggml.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

const int SEEDS = 64;
const int FINALISTS = 8;
const int PLAIN_ROUNDS = 60; // without sub-scales, of so many groups
const int PLAIN_GROUPS = 600;
const int ROUNDS = 40;
const int GROUPS = 256;
const int TEST_GROUPS = 1024;
const double MOST = 124; // of a level, before rounding

typedef double tables[4][TURBO_STATES];

double entry(const tables & own, const tables & before, int e, int code, int code_before) {
    return own[e][code] + before[e][code_before];
}

class training {
public:
    training(int words, unsigned seed) : words(words), n_table(words == 4 ? 1 : 4), rng(seed) {
        for (int e = 0; e < n_table; ++e) {
            for (double & x : own[e]) { x = 0.8 * gaussian_of(rng); }
            for (double & x : before[e]) { x = 0.6 * gaussian_of(rng); }
        }
    }

    void begin() {
        for (int i = 0; i < PLAIN_ROUNDS; ++i) { plain_round(); }
        per_sigma = 1;
        set_size();
    }

    void round() {
        std::vector<use> uses;
        for (int g = 0; g < GROUPS; ++g) {
            const group x = sample(rng);
            const coded c = quantize(x);
            for (int i = 0; i < TURBO_GROUP; ++i) {
                const double s = c.step[i / 32];
                if (s > 0) {
                    uses.push_back({ n_table == 1 ? 0 : i / 4 % 4, c.code[i], c.before[i], x.value[i] / s, s * s });
                }
            }
        }
        improve(uses);
        // d follows the values, whatever the tables' size: without this the two would drift apart
        double power = 0;
        for (const use & u : uses) { power += u.weight; }
        per_sigma = std::sqrt(uses.size() / power);
        set_size();
    }

    // error of Gaussian groups relative to their energy; the same groups for all
    double error() const {
        std::mt19937 test_rng(1u << 20);
        double sum = 0;
        double power = 0;
        for (int g = 0; g < TEST_GROUPS; ++g) {
            const group x = sample(test_rng);
            const coded c = quantize(x);
            for (int i = 0; i < TURBO_GROUP; ++i) {
                const double y = c.step[i / 32] * c.level[i];
                sum += (x.value[i] - y) * (x.value[i] - y);
                power += x.value[i] * x.value[i];
            }
        }
        return sum / power;
    }

    void print(const char * name, const char * upper) const {
        const auto table = [&](const char * kind, const int8_t (*t)[TURBO_STATES]) {
            printf("static const int8_t %s_%s[%d][16] = {\n", name, kind, n_table);
            for (int e = 0; e < n_table; ++e) {
                printf("    { ");
                for (int i = 0; i < TURBO_STATES; ++i) {
                    printf("%d%s", t[e][i], i + 1 < TURBO_STATES ? ", " : " },\n");
                }
            }
            printf("};\n");
        };
        table("own", own8);
        table("before", before8);
        printf(
            "#define %s_D_OF_RMS %.4ff // 2^13 / (187.5 * %.2f levels of a sigma)\n\n", upper, d_of_rms(), per_sigma);
    }

private:
    struct group {
        float value[TURBO_GROUP];
    };
    struct coded {
        double step[TURBO_SUBSCALES];
        int8_t level[TURBO_GROUP];
        uint8_t code[TURBO_GROUP];
        uint8_t before[TURBO_GROUP];
    };

    // a value in the units of a level, and the entries that it used
    struct use {
        int e, code, before;
        double x, weight;
    };

    // by the polar method, since the library's distribution may differ from one to the next
    static double gaussian_of(std::mt19937 & rng) {
        for (;;) {
            const double a = (rng() + 0.5) / 2147483648.0 - 1.0;
            const double b = (rng() + 0.5) / 2147483648.0 - 1.0;
            const double s = a * a + b * b;
            if (s < 1.0) { return a * std::sqrt(-2.0 * std::log(s) / s); }
        }
    }
    static group sample(std::mt19937 & rng) {
        group x;
        for (float & v : x.value) { v = (float) gaussian_of(rng); }
        return x;
    }

    double d_of_rms() const { return 8192.0 / (187.5 * per_sigma); }

    // levels of the largest size that int8 and the kernels take
    void set_size() {
        double most = 0;
        for (int e = 0; e < n_table; ++e) {
            for (int c = 0; c < TURBO_STATES; ++c) {
                for (int b = 0; b < TURBO_STATES; ++b) {
                    most = std::max(most, std::fabs(entry(own, before, e, c, b)));
                }
            }
        }
        const double factor = MOST / most;
        per_sigma *= factor;
        for (int e = 0; e < n_table; ++e) {
            for (int i = 0; i < TURBO_STATES; ++i) {
                own[e][i] *= factor;
                before[e][i] *= factor;
                own8[e][i] = (int8_t) std::lrint(own[e][i]);
                before8[e][i] = (int8_t) std::lrint(before[e][i]);
            }
        }
    }

    coded quantize(const group & x) const {
        const turbo_trellis trellis = { words, words == 4 ? 2 : 1, own8, before8 };
        const size_t size = words == 4 ? sizeof(block_turbo4_tcq) : sizeof(block_turbo3_tcq);
        const turbo_format format = { 128, 32, 0, size, nullptr, &trellis, (float) d_of_rms() };
        alignas(4) uint8_t block[sizeof(block_turbo4_tcq)];
        turbo_quantize_as(kernels(), &format, x.value, block, TURBO_GROUP);

        const auto * head = (const turbo_block_head *) block;
        coded c;
        for (int q = 0; q < TURBO_SUBSCALES; ++q) {
            c.step[q] = double(ggml_fp16_to_fp32(head->d)) * TURBO_UNIT * TURBO_MULT(head->sub >> 4 * q & 15);
            const int n = 8 * words; // codes of a quarter
            for (int v = 0; v < 32; ++v) {
                const int e = v / 4;
                const int word = words == 4 ? e : 3 * (e / 4) + std::min(e % 4, 2);
                const auto code_at = [&](int w, int lane) {
                    return block[sizeof(*head) + q % 2 * n + 4 * w + lane] >> q / 2 * 4 & 15;
                };
                c.code[32 * q + v] = code_at(word, v % 4);
                c.before[32 * q + v] = word > 0 ? code_at(word - 1, v % 4) : code_at(n / 4 - 1, (v + 3) % 4);
            }
        }
        turbo_trellis_levels(&format, block + sizeof(*head), c.level);
        return c;
    }

    // Groups of one energy as one path from code 0 on, without a ring and without sub-scales.
    void plain_round() {
        std::vector<use> uses;
        for (int g = 0; g < PLAIN_GROUPS; ++g) {
            group x = sample(rng);
            double power = 0;
            for (const float v : x.value) { power += double(v) * v; }
            for (float & v : x.value) { v *= (float) std::sqrt(TURBO_GROUP / power); }
            plain_path(x, uses);
        }
        improve(uses);
    }

    void plain_path(const group & x, std::vector<use> & uses) const {
        static const float FAR = 1e9f;
        float cost[TURBO_STATES];
        uint8_t origin[TURBO_GROUP][TURBO_STATES];
        for (int s = 0; s < TURBO_STATES; ++s) { cost[s] = s == 0 ? 0 : FAR; }
        const int n = TURBO_GROUP / 4 * words;
        for (int t = 0; t < n; ++t) {
            const int k = words == 4 ? 0 : t % 3;
            const int v = words == 4 ? t : t / 3 * 4 + k;
            float next[TURBO_STATES];
            for (float & c : next) { c = 4 * FAR; }
            for (int b = 0; b < TURBO_STATES; ++b) {
                float sum[TURBO_STATES];
                for (int c = 0; c < TURBO_STATES; ++c) {
                    const float e = x.value[v] - (float) entry(own, before, k, c, b);
                    sum[c] = cost[b] + e * e;
                }
                for (int c = 0; k == 2 && c < TURBO_STATES; ++c) {
                    const float e = x.value[v + 1] - (float) entry(own, before, 3, c, b);
                    sum[c] += e * e;
                }
                for (int c = 0; c < TURBO_STATES; ++c) {
                    if (sum[c] < next[c]) {
                        next[c] = sum[c];
                        origin[t][c] = (uint8_t) b;
                    }
                }
            }
            memcpy(cost, next, sizeof(cost));
        }
        int code = (int) (std::min_element(cost, cost + TURBO_STATES) - cost);
        for (int t = n - 1; t >= 0; --t) {
            const int b = origin[t][code];
            const int k = words == 4 ? 0 : t % 3;
            const int v = words == 4 ? t : t / 3 * 4 + k;
            uses.push_back({ k, code, b, x.value[v], 1 });
            if (k == 2) { uses.push_back({ 3, code, b, x.value[v + 1], 1 }); }
            code = b;
        }
    }

    void improve(const std::vector<use> & uses) {
        for (int i = 0; i < 10; ++i) {
            mean(
                uses, own, [&](const use & u) { return u.code; },
                [&](const use & u) { return u.x - before[u.e][u.before]; });
            mean(
                uses, before, [&](const use & u) { return u.before; },
                [&](const use & u) { return u.x - own[u.e][u.code]; });
        }
    }

    template <typename USES, typename INDEX, typename REST>
    void mean(const USES & uses, tables & t, INDEX index, REST rest) {
        tables sum = {};
        tables weight = {};
        for (const auto & u : uses) {
            sum[u.e][index(u)] += u.weight * rest(u);
            weight[u.e][index(u)] += u.weight;
        }
        for (int e = 0; e < n_table; ++e) {
            for (int i = 0; i < TURBO_STATES; ++i) {
                if (weight[e][i] > 0) { t[e][i] = sum[e][i] / weight[e][i]; }
            }
        }
    }

    static const turbo_kernels * kernels() {
        for (const char * level : { "avx512", "avx2", "neon" }) {
            if (turbo_kernels_at(level) != nullptr) { return turbo_kernels_at(level); }
        }
        return &turbo_kernels_ref;
    }

    int words;
    int n_table;
    std::mt19937 rng;
    tables own = {};
    tables before = {};
    int8_t own8[4][TURBO_STATES] = {};
    int8_t before8[4][TURBO_STATES] = {};
    double per_sigma = 1;
};

// work(0) .. work(n - 1) on all cores
template <typename WORK> void on_all_cores(int n, WORK work) {
    std::atomic<int> next{ 0 };
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
        threads.emplace_back([&] {
            for (int i = next++; i < n; i = next++) { work(i); }
        });
    }
    for (std::thread & t : threads) { t.join(); }
}

struct beginning {
    training t;
    double error;
};

void train(int words, const char * name, const char * upper) {
    std::vector<beginning> all;
    for (int seed = 1; seed <= SEEDS; ++seed) { all.push_back({ training(words, seed), 0 }); }
    on_all_cores(SEEDS, [&](int i) {
        all[i].t.begin();
        all[i].error = all[i].t.error();
        fprintf(stderr, "%s, beginning %d of %d: %.5f\n", name, i + 1, SEEDS, all[i].error);
    });
    std::stable_sort(
        all.begin(), all.end(), [](const beginning & a, const beginning & b) { return a.error < b.error; });
    on_all_cores(FINALISTS, [&](int i) {
        beginning best = all[i];
        for (int round = 0; round < ROUNDS; ++round) {
            all[i].t.round();
            all[i].error = all[i].t.error();
            if (all[i].error < best.error) { best = all[i]; }
        }
        all[i] = best;
        fprintf(stderr, "%s, finalist %d: %.5f\n", name, i + 1, best.error);
    });
    const beginning & best = *std::min_element(all.begin(), all.begin() + FINALISTS,
        [](const beginning & a, const beginning & b) { return a.error < b.error; });
    printf("// error of a Gaussian: %.5f of its energy\n", best.error);
    best.t.print(name, upper);
}

} // namespace

int main(int argc, char ** argv) {
    const std::string only = argc > 1 ? argv[1] : "";
    printf("// Tables of the trellis types: printed by `node test/native/trellis/train.mjs`, and since then a part of "
           "the format.\n");
    printf("// own: of the code of a value, before: of the code before it, by e%%4 (turbo-layout.h).\n");
    printf("#pragma once\n\n#include <stdint.h>\n\n");
    if (only.empty() || only == "turbo4_tcq") { train(4, "turbo4_tcq", "TURBO4_TCQ"); }
    if (only.empty() || only == "turbo3_tcq") { train(3, "turbo3_tcq", "TURBO3_TCQ"); }
}
