#include "machine/Kernels.h"

#include "context/internals.h"

#include "ggml-cpu.h"
#include "ggml-turbo.h"
#include "llama-turbo.h"

#include <algorithm>
#include <cstdlib>

#ifdef CONCERTINA_METAL
#include "turbo-metal-app.h"
#endif
#ifdef CONCERTINA_VULKAN
#include "turbo-vulkan-app.h"
#endif
#ifdef CONCERTINA_CUDA
#include "turbo-cuda-app.h"
#endif

namespace concertina {
namespace {

KernelUse cpuKernel() {
    const SimdLevels levels = simdLevels();
    const std::string why = !levels.simdAsked.empty()        ? "CONCERTINA_SIMD=" + levels.simdAsked
                            : levels.simd == levels.simdBest ? "the best of this processor"
                                                             : "the best of this build";
    return { "CPU", 0, "cpu-" + levels.simd, why };
}

#ifdef CONCERTINA_METAL
std::vector<KernelUse> gpuKernels(const Model & model, ggml_type typeK, ggml_type typeV, uint32_t nCtx) {
    const std::string backend = "Metal";
    if (!ggml_turbo_is_turbo(typeK) && !ggml_turbo_is_turbo(typeV))
        return { { backend, 0, "llama.cpp", "no turbo cache" } };
    const HeadShape shape = headShape(model.handle);
    std::vector<KernelUse> uses;
    const auto isTurbo4 = [](ggml_type type) { return type == GGML_TYPE_TURBO4 || type == GGML_TYPE_TURBO4_64; };
    for (const turbo_metal_use & use : turbo_metal_uses_here(static_cast<int>(shape.dimK), static_cast<int>(shape.dimV),
             static_cast<int>(shape.heads / shape.headsKv), nCtx, isTurbo4(typeK) || isTurbo4(typeV))) {
        uses.push_back({ backend, static_cast<uint32_t>(use.from), use.name, use.why });
    }
    return uses;
}
#elif defined(CONCERTINA_VULKAN) || defined(CONCERTINA_CUDA)
#ifdef CONCERTINA_CUDA
const auto decodeKernel = turbo_cuda_decode_kernel;
#else
const auto decodeKernel = turbo_vulkan_decode_kernel;
#endif

std::vector<KernelUse> gpuKernels(const Model & model, ggml_type typeK, ggml_type typeV, uint32_t) {
    const HeadShape shape = headShape(model.handle);
    const int32_t layers = llama_model_n_layer(model.handle);
    std::vector<KernelUse> uses;
    for (int32_t layer = std::max(0, layers - model.gpuLayers + 1); layer < layers; layer++) {
        ggml_backend_dev_t device = deviceOfLayer(model.handle, layer);
        if (!isLocalGpu(device)) continue;
        const auto kernel = decodeKernel(device, shape.dimK, shape.dimV, typeK, typeV);
        const KernelUse use{ backendName(device), 0, kernel.name, kernel.why };
        const bool known =
            std::any_of(uses.begin(), uses.end(), [&](const KernelUse & other) { return other.name == use.name; });
        if (!known) uses.push_back(use);
    }
    return uses;
}
#else
std::vector<KernelUse> gpuKernels(const Model &, ggml_type, ggml_type, uint32_t) { return {}; }
#endif

bool isSpread(const Model & model) {
    for (int32_t layer = 0; layer < llama_model_n_layer(model.handle); layer++) {
        if (workerOf(deviceOfLayer(model.handle, layer))) return true;
    }
    return false;
}

std::string ofWeights() {
    if (ggml_cpu_has_avx512()) return "avx512";
    if (ggml_cpu_has_avx2()) return "avx2";
    return ggml_cpu_has_dotprod() ? "neon" : "scalar";
}

} // namespace

std::vector<KernelUse> kernelUses(const Model & model, ggml_type typeK, ggml_type typeV, uint32_t nCtx) {
    std::vector<KernelUse> uses;
    // the output layer is the first to go to the GPU, and counts as one
    if (model.gpuLayers > 1) uses = gpuKernels(model, typeK, typeV, nCtx);
    if (isSpread(model)) uses.push_back({ "RPC", 0, "worker", "chosen on the machine that has the layer" });
    if (uses.empty() || model.gpuLayers <= llama_model_n_layer(model.handle)) uses.push_back(cpuKernel());
    return uses;
}

#ifdef CONCERTINA_METAL
void selfTest(const std::string & folder) { turbo_metal_start(folder); }

void leaveSelfTest() {} // a kernel that was left in the middle counts as wrong

std::vector<std::string> kernelWarnings() { return turbo_metal_warnings(); }

std::string chipFamily() { return turbo_metal_family(); }
#elif defined(CONCERTINA_VULKAN)
void selfTest(const std::string & folder) { turbo_vulkan_start(folder); }

void leaveSelfTest() { turbo_vulkan_leave(); }

std::vector<std::string> kernelWarnings() { return turbo_vulkan_warnings(); }

std::string chipFamily() { return ""; }
#elif defined(CONCERTINA_CUDA)
void selfTest(const std::string & folder) { turbo_cuda_start(folder); }

void leaveSelfTest() { turbo_cuda_leave(); }

std::vector<std::string> kernelWarnings() { return turbo_cuda_warnings(); }

std::string chipFamily() { return ""; }
#else
void selfTest(const std::string &) {} // the CPU's kernels are tested where they are built

void leaveSelfTest() {}

std::vector<std::string> kernelWarnings() { return {}; }

std::string chipFamily() { return ""; }
#endif

SimdLevels simdLevels() {
    const char * asked = std::getenv("CONCERTINA_SIMD");
    return { ggml_turbo_simd_level(), ggml_turbo_cpu_level(), asked ? asked : "", ofWeights() };
}

} // namespace concertina
