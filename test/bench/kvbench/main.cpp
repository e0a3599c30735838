// Measures decode and prefill speed of cache types over depth, all in one process with every context alive, so that the
// variants can take turns. Started by test/bench/bench.mjs, which checks the options and makes figures of the samples.

#include "kvbench.h"

#include "ggml-backend.h"
#include "ggml-turbo.h"
#include "llama-turbo.h"
#include "machine/Probe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace {

constexpr int n_learned = 512; // tokens whose cells fill all depths
constexpr double patience_seconds = 120.0; // of one variant over one prompt length, before it leaves the next out

// With a GPU warnings too: one says that an operation runs on the CPU for want of a kernel.
void log_problems(ggml_log_level level, const char * text, void * with_warnings) {
    if (level == GGML_LOG_LEVEL_ERROR || (with_warnings && level == GGML_LOG_LEVEL_WARN)) { fputs(text, stderr); }
}

// Bytes per second of a sequential read by n_threads threads, each over its own contiguous share of a buffer far above
// the last-level cache: the best of a few passes, for a bound is what the machine can do when nobody disturbs it.
double read_bandwidth(int n_threads) {
    concertina::SequentialReads reads(size_t(512) << 20); // bytes
    double best = 0;
    for (int pass = 0; pass < 8; ++pass) { best = std::max(best, reads.pass(n_threads)); }
    return best;
}

// More than once in a run: the best of all counts, and neighbors come and go.
void report_bandwidth(const bench_options & options) {
    const int n_threads = options.n_threads;
    if (options.n_gpu_layers > 0) { return; }
    print_event({ { "event", "bandwidth" }, { "threads", 1 }, { "bytesPerSecond", read_bandwidth(1) } });
    if (n_threads > 1) {
        print_event(
            { { "event", "bandwidth" }, { "threads", n_threads }, { "bytesPerSecond", read_bandwidth(n_threads) } });
    }
}

ggml_backend_dev_t gpu_of(const bench_options & options) {
    return options.n_gpu_layers > 0 ? ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) : nullptr;
}

// A GPU that cannot do attention would leave it to the CPU, and the figures would tell of neither.
void require_attention(ggml_backend_dev_t gpu, const attention_shape & s) {
    if (!turbo_gpu_attends(
            gpu, { s.head_dim_k, s.head_dim_v, s.n_head, s.n_head_kv }, GGML_TYPE_Q8_0, GGML_TYPE_Q8_0, true)) {
        give_up(std::string(ggml_backend_dev_description(gpu)) + " has no flash attention: leave --gpu-layers out.");
    }
}

const char * device_name(const bench_options & options) {
    ggml_backend_dev_t gpu = gpu_of(options);
    if (options.n_gpu_layers > 0 && gpu == nullptr) { give_up("There is no GPU: leave --gpu-layers out."); }
    return ggml_backend_dev_description(gpu ? gpu : ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
}

// The file of a shape is gone again when this returns: the model has read it.
llama_model_ptr load(const bench_options & options) {
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = options.n_gpu_layers;
    std::string path = options.model;
    std::string what;
    if (!options.shape.empty()) {
        const model_shape * shape = find_shape(options.shape);
        if (shape == nullptr) { give_up("There is no shape " + options.shape + "."); }
        path = (std::filesystem::path(options.dir) / (options.shape + ".gguf")).string();
        what = shape->what;
        if (!write_shape(*shape, uint32_t(options.n_layer), path)) {
            give_up("The model of the shape could not be written to " + path + ".");
        }
        params.load_mode = LLAMA_LOAD_MODE_NONE;
    }
    llama_model_ptr model(llama_model_load_from_file(path.c_str(), params));
    if (!model) { give_up("The model " + path + " could not be loaded."); }
    char text[256] = "";
    llama_model_desc(model.get(), text, sizeof(text));
    print_event({ { "event", "model" },
        { "name", options.shape.empty() ? std::filesystem::path(path).filename().string() : options.shape },
        { "what", what.empty() ? text : what }, { "layers", llama_model_n_layer(model.get()) },
        { "heads", llama_model_n_head(model.get()) }, { "headsKv", llama_model_n_head_kv(model.get()) },
        { "weightBytes", weight_bytes_per_token(path) }, { "simd", ggml_turbo_simd_level() },
        { "device", device_name(options) } });
    if (!options.shape.empty()) { std::filesystem::remove(path); }
    return model;
}

std::vector<llama_token> some_tokens(int n, int n_vocab) {
    std::vector<llama_token> tokens(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) { tokens[size_t(i)] = llama_token((int64_t(i) * 7919 + 11) % n_vocab); }
    return tokens;
}

void fill_all(const std::vector<variant> & variants, int depth) {
    for (const variant & one : variants) {
        one.select();
        if (!one.kv->cells.fill(one.kv->ctx.get(), depth)) {
            give_up(one.name + ": the cache could not be filled to depth " + std::to_string(depth) + ".");
        }
    }
}

bool has(const bench_options & options, const std::string & part) {
    return std::find(options.parts.begin(), options.parts.end(), part) != options.parts.end();
}

// Part by part, so that what the ratios need is measured first when time is short.
void measure_depths(
    const bench_options & options, const llama_model * model, const std::vector<variant> & variants, double deadline) {
    const int n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    const round_plan plan = { variants, options.n_rounds, deadline };
    attention_shape shape;
    const bool alone = attention_shape_of(model, variants.front().kv->cells, shape);
    if (alone) { require_attention(gpu_of(options), shape); }

    for (const int depth : options.depths) {
        report_bandwidth(options);
        fill_all(variants, depth);
        run_rounds(plan, "decode", depth, 1, [&](size_t i) { return decode_turn(variants[i], depth); });
    }
    for (const int depth : options.depths) {
        if (alone && has(options, "attention-decode") && in_time(plan, "attention-decode", depth)) {
            attention_rounds(plan, shape, depth, 1, options.n_threads);
        }
    }
    std::vector<llama_token> batch = some_tokens(options.n_batch, n_vocab);
    for (const int depth : options.depths) {
        if (has(options, "prefill") && in_time(plan, "prefill", depth)) {
            fill_all(variants, depth);
            run_rounds(plan, "prefill", depth, options.n_batch,
                [&](size_t i) { return prefill_turn(variants[i], depth, batch); });
        }
    }
    for (const int depth : options.depths) {
        if (alone && has(options, "attention-prefill") && in_time(plan, "attention-prefill", depth)) {
            attention_rounds(plan, shape, depth, options.n_batch, options.n_threads);
        }
    }
}

} // namespace

void print_event(const nlohmann::ordered_json & event) {
    // names come from files, of which nobody knows that they are UTF-8
    printf("%s\n", event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    fflush(stdout);
}

int main(int argc, char ** argv) {
    if (argc != 2) { give_up("It is started by npm run bench."); }
    bench_options options = nlohmann::json::parse(argv[1]).get<bench_options>();
    llama_log_set(log_problems, options.n_gpu_layers > 0 ? &options : nullptr);
    llama_backend_init();
    const double deadline = options.budget > 0 ? now() + options.budget : HUGE_VAL;
    report_bandwidth(options);

    const llama_model_ptr model = load(options);
    const int n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model.get()));
    int deepest = n_learned;
    for (const int n : options.depths) { deepest = std::max(deepest, n + options.n_batch); }
    for (const int n : options.prompts) { deepest = std::max(deepest, n); }
    const std::vector<variant> variants = make_variants(model.get(), options, GGML_PAD(deepest, 256),
        std::max(options.n_batch, n_learned), some_tokens(n_learned, n_vocab));

    std::sort(options.depths.begin(), options.depths.end());
    std::sort(options.prompts.begin(), options.prompts.end());
    measure_depths(options, model.get(), variants, deadline);
    if (!options.prompts.empty()) { prefill_prompts(variants, options.prompts, n_learned, n_vocab, patience_seconds); }
    report_bandwidth(options);
    print_event({ { "event", "done" } });
    return 0;
}
