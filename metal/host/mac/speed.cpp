// Which table of levels, and how many queries for one expansion of K and V, are fastest on a GPU: measured once, before the self-test,
// on decode attention over 8K positions. What turboquant_plus measured on two chips (dispatch.cpp) is for GPUs that were not measured.

#include "encode.h"
#include "ggml-turbo.h"
#include "turbo-metal-impl.h"

#include "ggml-cpp.h"
#include "ggml-metal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

namespace {

const int DIM = 128;
const int N_HEAD_KV = 8;
const char * const TABLES[TURBO_METAL_TABLES] = { "all levels", "magnitudes", "magnitudes by shuffle" };

// Attention of one token, several times, each over the result of the one before.
class chain {
public:
    chain(ggml_metal_device_t gpu, ggml_type type, int gqa, const turbo_metal_stopwatch & watch)
        : lib(ggml_metal_device_get_library(gpu)), gqa(gqa), watch(watch) {
        ggml_tensor * cache[2];
        for (ggml_tensor *& side : cache) { side = ggml_new_tensor_3d(ctx.get(), type, DIM, N_HEAD_KV, watch.n_kv); }
        queries = ggml_new_tensor_3d(ctx.get(), GGML_TYPE_F32, DIM, N_HEAD_KV * gqa, 1);
        const auto heads = [&](ggml_tensor * t) { return ggml_permute(ctx.get(), t, 0, 2, 1, 3); };
        ggml_tensor * q = queries;
        for (int i = 0; i < watch.n_op; ++i) {
            q = ggml_flash_attn_ext(
                ctx.get(), heads(q), heads(cache[0]), heads(cache[1]), nullptr, 1.0f / std::sqrt((float) DIM), 0, 0);
        }
        last = q;
        graph = ggml_new_graph(ctx.get());
        ggml_build_forward_expand(graph, last);
        buffer.reset(ggml_backend_alloc_ctx_tensors(ctx.get(), backend.get()));
        if (!buffer) { return; }
        for (ggml_tensor * side : cache) { fill(side); }
        fill(queries);
    }

    // Seconds; infinite where the GPU cannot run it.
    double run(const turbo_metal_variant & variant) const {
        if (!turbo_metal_obstacle(lib, turbo_metal_plan_on(lib, variant, last)).empty()) { return INFINITY; }
        const turbo_metal_forced_variant forced(&variant);
        const double start = watch.now();
        const bool ran = buffer && ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS;
        return ran ? watch.now() - start : INFINITY;
    }

    turbo_metal_shape shape(bool has_turbo4) const { return { watch.n_kv, DIM, DIM, gqa, 1, N_HEAD_KV, has_turbo4 }; }

private:
    // One position's values again and again: time does not depend on them.
    static void fill(ggml_tensor * t) {
        std::mt19937 random;
        std::vector<float> x(t->ne[0] * t->ne[1]);
        for (float & value : x) { value = (float) (random() >> 8) / (1 << 23) - 1.0f; }
        std::vector<uint8_t> bytes(ggml_row_size(t->type, x.size()));
        ggml_quantize_chunk(t->type, x.data(), bytes.data(), 0, 1, x.size(), nullptr);
        for (int64_t i = 0; i < t->ne[2]; ++i) {
            ggml_backend_tensor_set(t, bytes.data(), i * bytes.size(), bytes.size());
        }
    }

    const ggml_metal_library_t lib;
    const int gqa;
    const turbo_metal_stopwatch & watch;
    ggml_backend_ptr backend{ ggml_backend_metal_init() };
    ggml_context_ptr ctx{ ggml_init({ 512 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true }) };
    ggml_backend_buffer_ptr buffer;
    ggml_tensor *queries, *last;
    ggml_cgraph * graph;
};

// The least of several rounds of each variant, in turn; the first round makes pipelines.
std::vector<double> times(const chain & work, const std::vector<turbo_metal_variant> & variants, int rounds) {
    std::vector<double> least(variants.size(), INFINITY);
    for (int round = 0; round <= rounds; ++round) {
        for (size_t i = 0; i < variants.size(); ++i) {
            const double seconds = work.run(variants[i]);
            if (round > 0 || std::isinf(seconds)) { least[i] = std::min(least[i], seconds); }
        }
    }
    return least;
}

// "magnitudes 1.00, all levels 1.31": the fastest is 1
std::string text_of(const std::vector<std::pair<std::string, double>> & named) {
    std::string text;
    const auto faster = [](const auto & a, const auto & b) { return a.second < b.second; };
    const double least = std::min_element(named.begin(), named.end(), faster)->second;
    for (const auto & [name, seconds] : named) {
        char ratio[32] = " not run";
        if (!std::isinf(seconds)) { snprintf(ratio, sizeof ratio, " %.2f", seconds / least); }
        text += (text.empty() ? "" : ", ") + name + ratio;
    }
    return text;
}

// turbo4 or turbo3 for K and V. table: -1 where the GPU ran none.
turbo_metal_speed measure(ggml_metal_device_t gpu, bool has_turbo4, const turbo_metal_stopwatch & watch) {
    const turbo_metal_device device = turbo_metal_device_of(ggml_metal_device_get_props(gpu), true);
    const ggml_type type = has_turbo4 ? GGML_TYPE_TURBO4 : GGML_TYPE_TURBO3;
    const chain four(gpu, type, 4, watch), eight(gpu, type, 8, watch);
    std::vector<turbo_metal_variant> variants;
    for (int table = 0; table < TURBO_METAL_TABLES; ++table) {
        variants.push_back(turbo_metal_choose_with(device, four.shape(has_turbo4), TURBO_METAL_MAX_SPLITS, ""));
        variants.back().table = table;
    }
    const std::vector<double> by_table = times(four, variants, watch.rounds);
    const size_t best = std::min_element(by_table.begin(), by_table.end()) - by_table.begin();
    if (std::isinf(by_table[best])) { return { -1, 0, "" }; }

    variants.assign(2, turbo_metal_choose_with(device, eight.shape(has_turbo4), TURBO_METAL_MAX_SPLITS, ""));
    variants[0].queries = 4;
    variants[1].queries = 8;
    for (turbo_metal_variant & v : variants) { v.table = (int) best; }
    const std::vector<double> by_queries = times(eight, variants, watch.rounds);
    const int queries = by_queries[1] < by_queries[0] ? 8 : 4;

    std::vector<std::pair<std::string, double>> tables;
    for (int table = 0; table < TURBO_METAL_TABLES; ++table) { tables.push_back({ TABLES[table], by_table[table] }); }
    return { (int) best, queries,
        "measured on this GPU at 8K: " + text_of(tables) + "; " +
            text_of({ { "4 queries at once", by_queries[0] }, { "8", by_queries[1] } }) };
}

const char * const MEASURING = "measuring";

// What a file of the same first line holds. Whether a process ended while it measured is told by `ended`.
turbo_metal_speeds read(const std::string & file, const std::string & first, bool & ended) {
    turbo_metal_speeds speeds;
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line) || line != first) { return {}; }
    while (std::getline(in, line)) {
        std::istringstream parts(line);
        std::string name, table, queries, why;
        std::getline(parts, name, '\t');
        std::getline(parts, table, '\t');
        std::getline(parts, queries, '\t');
        std::getline(parts, why, '\t');
        if (name == MEASURING) { ended = true; }
        if (why.empty()) { continue; }
        const turbo_metal_speed speed = { std::atoi(table.c_str()), std::atoi(queries.c_str()), why };
        const bool known = speed.table >= 0 && speed.table < TURBO_METAL_TABLES;
        if (known && (speed.queries == 4 || speed.queries == 8)) { speeds[name == "turbo4"] = speed; }
    }
    if (!speeds.empty()) { ended = false; }
    return speeds;
}

} // namespace

double turbo_metal_stopwatch::steady() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

turbo_metal_speeds turbo_metal_measure(
    ggml_metal_device_t gpu, const std::string & file, const std::string & key, const turbo_metal_stopwatch & watch) {
    const std::string first = "concertina metal speed 1: " + key;
    bool ended = false;
    turbo_metal_speeds speeds = read(file, first, ended);
    if (ended || !speeds.empty()) { return speeds; }
    // flushed before the GPU has work: a measurement that ends the process is not tried again
    std::ofstream(file, std::ios::trunc) << first << '\n' << MEASURING << '\n';
    std::string lines;
    for (const bool has_turbo4 : { false, true }) {
        const turbo_metal_speed speed = measure(gpu, has_turbo4, watch);
        if (speed.table < 0) { continue; }
        speeds[has_turbo4] = speed;
        lines += (has_turbo4 ? "turbo4\t" : "turbo3\t") + std::to_string(speed.table) + '\t' +
                 std::to_string(speed.queries) + '\t' + speed.why + '\n';
    }
    std::ofstream(file, std::ios::app) << lines;
    return speeds;
}
