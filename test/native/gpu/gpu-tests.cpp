// Turbo types on every GPU that ggml finds, against the CPU: the bytes of SET_ROWS, which must be those of the reference, and attention
// of few rows (a decode kernel, over split and unsplit ranges) and of many (through K and V expanded to f16).
// gpu-tests [TYPE ...]: one line a case; fails where one differs, and where no GPU was found.

#include "trials.h"

#include "ggml-cpp.h"
#include "ggml-turbo.h"

#include <cstdio>
#include <set>
#include <string>

int main(int argc, char ** argv) {
    const std::set<std::string> chosen(argv + 1, argv + argc);
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
            const int differ = turbo_trial_differing_blocks(backend.get(), type, 1024, 512);
            report(differ == 0, name + ": " + std::to_string(differ) + " of " +
                                    std::to_string(512 * 1024 / ggml_blck_size(type)) +
                                    " blocks differ from the reference");
            const ggml_type other = ggml_blck_size(type) == 64 ? GGML_TYPE_TURBO3_64 : GGML_TYPE_TURBO3;
            const turbo_attention_trial trials[] = {
                { type, type, 4, 1, 1, 100, 1.0f }, // one range, with an end that no tile ends at
                { type, type, 8, 2, 1, 4096, 1.0f },
                { type, type, 8, 2, 1, 4096, 20.0f },
                { type, type, 8, 2, 1, 4096, 0.003f },
                { type, other, 8, 1, 1, 1000, 1.0f },
                { type, type, 2, 2, 1, 512, 1.0f },
                { type, type, 32, 2, 1, 777, 1.0f },
                { type, type, 8, 2, 4, 512, 1.0f },
                { type, type, 2, 2, 13, 300, 20.0f },
                { type, type, 4, 2, 40, 500, 1.0f },
                { type, type, 8, 2, 64, 192, 1.0f },
                { type, type, 8, 2, 200, 1024, 20.0f },
            };
            for (const turbo_attention_trial & trial : trials) {
                const double error = turbo_trial_attention_error(backend.get(), cpu.get(), trial);
                // as in the self-test; scores of large queries are far from 0, and so is what fp16 rounds off them
                const bool ok = error >= 0 && error < (trial.size > 1 || trial.n_tokens > 16 ? 1e-4 : 5e-6);
                char text[32];
                snprintf(text, sizeof(text), "%.1e", error);
                report(ok, trial.label() + ": squared error against the CPU " + text);
            }
        }
    }
    if (n_gpus == 0) report(false, "no GPU was found");
    printf("%d failed\n", failed);
    return failed > 0;
}
