// Turbo types on every GPU that ggml finds, against the CPU: the bytes of SET_ROWS, which must be those of the reference, and attention
// of few rows (a decode kernel, over split and unsplit ranges) and of many (through K and V expanded to f16); and layers, whose
// rotations the back end folds into these.
// gpu-tests [TYPE | N | operations ...]: one line a case; fails where one differs, and where no GPU was found. N: layers with N new
// tokens alone, operations: these alone. Mesa's software device of Debian 12 ends some processes with a segmentation fault, the more
// often the more they run, so it gets them in parts (docs/gpu.md).

#include "trials.h"

#include "ggml-cpp.h"
#include "ggml-turbo.h"
#ifdef CONCERTINA_VULKAN
#include "turbo-vulkan-app.h"
#define DECODE_KERNEL turbo_vulkan_decode_kernel
#elif defined(CONCERTINA_CUDA)
#include "turbo-cuda-app.h"
#define DECODE_KERNEL turbo_cuda_decode_kernel
#endif

#include <cstdio>
#include <set>
#include <string>

namespace {

template <typename Report>
void test_operations(ggml_backend_t backend, ggml_backend_t cpu, ggml_type type, Report && report) {
    const std::string name = ggml_type_name(type);
    const int differ = turbo_trial_differing_blocks(backend, type, 1024, 512);
    report(differ == 0, name + ": " + std::to_string(differ) + " of " +
                            std::to_string(512 * 1024 / ggml_blck_size(type)) + " blocks differ from the reference");
    const ggml_type other = ggml_blck_size(type) == 64 ? GGML_TYPE_TURBO3_64 : GGML_TYPE_TURBO3;
    const turbo_attention_trial trials[] = {
        { type, type, 4, 1, 1, 100, 1.0f }, // one range, with an end that no tile ends at
        { type, type, 8, 2, 1, 8192, 1.0f }, // more than 64 ranges on a large GPU
        { type, type, 8, 2, 1, 4096, 20.0f },
        { type, type, 8, 2, 1, 4096, 0.003f },
        { type, other, 8, 1, 1, 1000, 1.0f },
        { type, type, 2, 2, 1, 512, 1.0f },
        { type, type, 32, 2, 1, 777, 1.0f },
        { type, type, 8, 2, 4, 512, 1.0f },
        { type, type, 2, 2, 5, 300, 1.0f }, // rows with masks of their own
        { type, type, 2, 2, 13, 300, 20.0f },
        { type, type, 4, 2, 40, 500, 1.0f },
        { type, type, 8, 2, 64, 192, 1.0f },
        { type, type, 8, 2, 200, 1024, 20.0f },
    };
    for (const turbo_attention_trial & trial : trials) {
        const double error = turbo_trial_attention_error(backend, cpu, trial);
        // as in the self-test; scores of large queries are far from 0, and so is what fp16 rounds off them
        const bool ok = error >= 0 && error < (trial.size > 1 || trial.n_tokens > 16 ? 1e-4 : 5e-6);
        char text[32];
        snprintf(text, sizeof(text), "%.1e", error);
        report(ok, trial.label() + ": squared error against the CPU " + text);
    }
}

template <typename Report>
void test_layers(
    ggml_backend_t backend, ggml_backend_t cpu, ggml_type type, const std::set<int> & chosen, Report && report) {
    // prompts keep the rotations of the query and of the result; CUDA's kernel for few rows takes no 13 tokens of four heads
    const bool cuda = std::string(ggml_backend_name(backend)).rfind("CUDA", 0) == 0;
    for (const auto & [n_tokens, n_folded] :
        { std::pair<int, int>{ 1, 4 }, { 3, 4 }, { 13, cuda ? 2 : 4 }, { 40, 2 }, { 100, 2 } }) {
        if (!chosen.empty() && chosen.count(n_tokens) == 0) continue;
        const turbo_fold_trial trial = turbo_trial_folds(backend, cpu, type, n_tokens);
        char text[100];
        snprintf(text, sizeof(text), "%d of 4 rotations folded, squared errors %.1e of the cache, %.1e of the result",
            trial.n_folded, trial.cache_error, trial.error);
        // the CPU rounds the query of few tokens to int8; where sines differ in the last bit, some values of K get the next level
        const bool ok =
            trial.n_folded == n_folded && trial.cache_error < 1e-4 && trial.error < (n_tokens > 16 ? 1e-4 : 1e-3);
        report(ok,
            std::string(ggml_type_name(type)) + ", a layer with " + std::to_string(n_tokens) + " new tokens: " + text);
    }
}

} // namespace

int main(int argc, char ** argv) {
    const std::set<std::string> given(argv + 1, argv + argc);
    std::set<std::string> chosen;
    std::set<int> chosen_tokens;
    for (const std::string & word : given) {
        if (isdigit((unsigned char) word[0])) {
            chosen_tokens.insert(atoi(word.c_str()));
        } else if (word != "operations") {
            chosen.insert(word);
        }
    }
    const bool operations = chosen_tokens.empty();
    const bool layers = given.count("operations") == 0;
    const ggml_backend_ptr cpu(ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr));
    int n_gpus = 0;
    int failed = 0;
    const auto report = [&](bool ok, const std::string & text) {
        printf("%s %s\n", ok ? "ok  " : "FAIL", text.c_str());
        failed += !ok;
    };
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t dev = ggml_backend_dev_get(i);
        const auto kind = ggml_backend_dev_type(dev);
        if (kind != GGML_BACKEND_DEVICE_TYPE_GPU && kind != GGML_BACKEND_DEVICE_TYPE_IGPU) continue;
        ++n_gpus;
        printf("%s: %s\n", ggml_backend_dev_name(dev), ggml_backend_dev_description(dev));
        const ggml_backend_ptr backend(ggml_backend_dev_init(dev, nullptr));
        for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64 }) {
            const std::string name = ggml_type_name(type);
            if (!chosen.empty() && chosen.count(name) == 0) continue;
#ifdef DECODE_KERNEL
            const int64_t dim = ggml_blck_size(type);
            const turbo_gpu_kernel kernel = DECODE_KERNEL(dev, dim, dim, type, type);
            printf("%s: decode by %s (%s)\n", name.c_str(), kernel.name.c_str(), kernel.why.c_str());
#endif
            if (operations) test_operations(backend.get(), cpu.get(), type, report);
            if (layers) test_layers(backend.get(), cpu.get(), type, chosen_tokens, report);
        }
    }
    if (n_gpus == 0) report(false, "no GPU was found");
    printf("%d failed\n", failed);
    return failed > 0;
}
