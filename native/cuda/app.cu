// What the engine asks of CUDA: a self-test, and which kernel attention takes.

#include "self-test.h"
#include "turbo-cuda-app.h"
#include "turbo-cuda.cuh"

#include "ggml-cuda.h"

namespace {

turbo_gpu_findings findings;
// outlives a worker thread that is in the middle of a test when the process ends
turbo_self_test_record * results = nullptr;

std::string driver() {
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess) version = 0;
    return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + " of the driver";
}

// -1: not one of CUDA's devices.
int compute_capability(ggml_backend_dev_t dev) {
    ggml_backend_reg_t reg = ggml_backend_cuda_reg();
    for (size_t i = 0; i < ggml_backend_reg_dev_count(reg); ++i) {
        if (ggml_backend_reg_dev_get(reg, i) == dev) { return ggml_cuda_info().devices[i].cc; }
    }
    return -1;
}

} // namespace

bool turbo_cuda_has(ggml_type type) {
    return ggml_turbo_is_turbo(type) && ggml_turbo_without_trellis(type) == type && findings.faulty.count(type) == 0;
}

void turbo_cuda_start(const std::string & folder) {
    const std::string file = folder.empty() ? "" : folder + "/cuda-self-test.txt";
    results = new turbo_self_test_record(file, "concertina cuda self-test 1: build " TURBO_CUDA_BUILD ", " + driver(),
        "the engine ended while it was tried");
    ggml_backend_reg_t reg = ggml_backend_cuda_reg();
    for (size_t i = 0; i < ggml_backend_reg_dev_count(reg); ++i) {
        turbo_gpu_test_device(*results, ggml_backend_reg_dev_get(reg, i), driver, findings);
    }
    for (const std::string & text : findings.warnings) GGML_LOG_WARN("%s\n", text.c_str());
}

void turbo_cuda_leave() {
    if (results) results->leave();
}

std::vector<std::string> turbo_cuda_warnings() { return findings.warnings; }

turbo_gpu_kernel turbo_cuda_decode_kernel(
    ggml_backend_dev_t dev, int64_t dim_k, int64_t dim_v, ggml_type type_k, ggml_type type_v) {
    if (!ggml_turbo_is_turbo(type_k) && !ggml_turbo_is_turbo(type_v)) return { "llama.cpp", "no turbo cache" };
    const auto is_ours = [](ggml_type type, int64_t dim) {
        return turbo_cuda_has(type) && ggml_blck_size(type) == dim;
    };
    if (!is_ours(type_k, dim_k) || !is_ours(type_v, dim_v) || dim_k != dim_v)
        return { "llama.cpp", "K and V are not both one turbo block a head; each token expands the cache to f16" };
    if (!turbo_cuda_decodes_on(compute_capability(dev)))
        return { "llama.cpp", "the GPU is older than Ampere; each token expands the cache to f16" };
    return { "cuda-decode", "one turbo block a head" };
}
