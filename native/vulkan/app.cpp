// What the engine asks of Vulkan: its start, with a self-test, which kernels attention takes, and bytes that no scheduler sees.

#include "facts.h"
#include "self-test-record.h"
#include "self-test.h"
#include "turbo-vulkan-app.h"

#include "ggml-backend-impl.h"
#include "ggml-cpp.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"
#include "ggml-turbo.h"
#include "ggml-vulkan.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

namespace {

std::mutex facts_lock; // contexts are made on several threads
std::map<std::string, turbo_vk_facts> facts; // by the name of the device; none goes
turbo_gpu_findings findings;
std::set<std::string>
    with_fragments; // devices whose matrices lie in registers as shaders/decode-fragments.comp wants them

// What a result holds for: this build and the drivers as they are installed, by the files that name them.
std::string key() {
    std::string text = "concertina vulkan self-test 1: build " TURBO_VULKAN_BUILD;
    std::vector<std::string> found;
    for (const char * folder : { "/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d" }) {
        std::error_code error;
        for (const auto & entry : std::filesystem::directory_iterator(folder, error)) {
            const auto written = entry.last_write_time(error).time_since_epoch().count();
            found.push_back(entry.path().filename().string() + " " + std::to_string((long long) written));
        }
    }
    for (const char * name : { "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES", "VK_ICD_FILENAMES", "GGML_VK_VISIBLE_DEVICES",
             "CONCERTINA_VULKAN_DECODE" }) {
        if (const char * value = std::getenv(name)) found.push_back(std::string(name) + "=" + value);
    }
    std::sort(found.begin(), found.end());
    for (const std::string & one : found) text += ", " + one;
    return text;
}

// outlives a worker thread that is in the middle of a test when the process ends
turbo_self_test_record * results = nullptr;

void disable_backend() {
#ifdef _WIN32
    _putenv_s("GGML_DISABLE_VULKAN", "1");
#else
    setenv("GGML_DISABLE_VULKAN", "1", 1);
#endif
}

void leave_out(const std::string & problem) {
    disable_backend();
    findings.warnings.push_back("Vulkan is not used: " + problem + ". The driver of a GPU is probably broken");
}

void allow_fragments(const std::string & device, bool allowed) {
    const std::lock_guard<std::mutex> lock(facts_lock);
    if (allowed) {
        with_fragments.insert(device);
    } else {
        with_fragments.erase(device);
    }
}

std::string problem_of_fragments(ggml_backend_dev_t dev) {
    const ggml_backend_ptr backend(ggml_backend_dev_init(dev, nullptr));
    const ggml_backend_ptr cpu(ggml_backend_cpu_init());
    if (!backend || !cpu) throw std::runtime_error("no memory for its start");
    const std::pair<ggml_type, ggml_type> pairs[] = { { GGML_TYPE_TURBO4, GGML_TYPE_TURBO4 },
        { GGML_TYPE_TURBO3, GGML_TYPE_TURBO3 }, { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 },
        { GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO4_64 }, { GGML_TYPE_TURBO3_64, GGML_TYPE_TURBO3_64 } };
    for (const auto & [type_k, type_v] : pairs) {
        if (turbo_vk_is_faulty(type_k) || turbo_vk_is_faulty(type_v)) continue;
        for (const int heads : { 8, 32 }) { // 4 and 16 a KV head: one matrix, and two
            const std::string problem =
                turbo_gpu_attention_problem(backend.get(), cpu.get(), { type_k, type_v, heads, 2, 1, 421, 1.0f });
            if (!problem.empty()) return problem;
        }
    }
    return "";
}

// How matrices lie in registers, which Vulkan leaves open, is tried when a device has started and its other kernels were tested: where it
// goes wrong, even by the end of the process, those are used.
void test_fragments(ggml_backend_dev_t dev) {
    const turbo_vk_facts * known = turbo_vk_facts_of(dev);
    if (!known || !known->fragments || turbo_vk_decode_level() < 2) return;
    const std::string name = ggml_backend_dev_name(dev);
    const std::string device = ggml_backend_dev_description(dev);
    const std::string what = "matrices in registers on " + device + ", " + known->driver;
    allow_fragments(name, true);
    if (!results->of(what)) {
        results->begin(what);
        try {
            results->end(what, problem_of_fragments(dev));
        } catch (const std::exception & error) { results->end(what, error.what()); }
    }
    const std::string & problem = *results->of(what);
    if (problem.empty()) return;
    allow_fragments(name, false);
    findings.warnings.push_back("The self-test disabled the fastest kernel for decode on " + device + " (" + problem +
                                "). Another one is used.");
}

} // namespace

int turbo_vk_decode_level() {
    static const char * const given = std::getenv("CONCERTINA_VULKAN_DECODE");
    return given ? std::atoi(given) : 2;
}

bool turbo_vk_takes_fragments(const std::string & device) {
    if (turbo_vk_decode_level() < 2) return false;
    const std::lock_guard<std::mutex> lock(facts_lock);
    const auto found = facts.find(device);
    if (found == facts.end() || !found->second.fragments) return false;
    return !results || with_fragments.count(device) > 0; // programs without a self-test may use it
}

void turbo_vk_note(const std::string & device, const std::function<turbo_vk_facts()> & ask) {
    const std::lock_guard<std::mutex> lock(facts_lock);
    if (facts.count(device) == 0) facts.emplace(device, ask());
}

const turbo_vk_facts * turbo_vk_facts_of(ggml_backend_dev_t dev) {
    const std::lock_guard<std::mutex> lock(facts_lock);
    const auto found = dev ? facts.find(ggml_backend_dev_name(dev)) : facts.end();
    return found == facts.end() ? nullptr : &found->second;
}

bool turbo_vk_is_faulty(ggml_type type) { return findings.faulty.count(type) > 0; }

void turbo_vulkan_start(const std::string & folder) {
    if (std::getenv("GGML_DISABLE_VULKAN")) return;
    const std::string file = folder.empty() ? "" : folder + "/vulkan-self-test.txt";
    results = new turbo_self_test_record(file, key(), "the engine ended while it was tried");
    const std::string start = "start";
    if (const std::string * problem = results->of(start); problem && !problem->empty()) {
        leave_out(*problem);
    } else {
        results->begin(start);
        try {
            ggml_backend_reg_t reg = ggml_backend_vk_reg();
            for (size_t i = 0; reg && i < ggml_backend_reg_dev_count(reg); ++i) {
                ggml_backend_dev_t dev = ggml_backend_reg_dev_get(reg, i);
                turbo_gpu_test_device(
                    *results, dev,
                    [&] {
                        const turbo_vk_facts * known = turbo_vk_facts_of(dev);
                        return known ? known->driver + (known->matrices ? ", matrices" : "") : "";
                    },
                    findings);
            }
            results->end(start, "");
            for (size_t i = 0; reg && i < ggml_backend_reg_dev_count(reg); ++i) {
                test_fragments(ggml_backend_reg_dev_get(reg, i));
            }
        } catch (const std::exception & error) { // upstream throws what a driver refuses
            results->end(start, std::string("a GPU could not be started (") + error.what() + ")");
            leave_out(*results->of(start));
        }
    }
    for (const std::string & text : findings.warnings) GGML_LOG_WARN("%s\n", text.c_str());
}

void turbo_vulkan_leave() {
    if (results) results->leave();
}

std::vector<std::string> turbo_vulkan_warnings() { return findings.warnings; }

turbo_gpu_kernel turbo_vulkan_decode_kernel(
    ggml_backend_dev_t dev, int64_t dim_k, int64_t dim_v, ggml_type type_k, ggml_type type_v) {
    const auto is_ours = [](ggml_type type, int64_t dim) {
        return ggml_turbo_is_turbo(type) && ggml_blck_size(type) == dim;
    };
    if (!ggml_turbo_is_turbo(type_k) && !ggml_turbo_is_turbo(type_v)) return { "llama.cpp", "no turbo cache" };
    const turbo_vk_facts * known = turbo_vk_facts_of(dev);
    if (!is_ours(type_k, dim_k) || !is_ours(type_v, dim_v))
        return { "llama.cpp", "K and V are not both one turbo block a head" };
    if (turbo_vk_decode_level() < 1) return { "llama.cpp", "CONCERTINA_VULKAN_DECODE is 0" };
    if (!known || !known->decode)
        return { "llama.cpp",
            "the GPU has no fp16, no subgroups of a fixed size or too little shared memory, or is Intel's" };
    if (turbo_vk_takes_fragments(ggml_backend_dev_name(dev)))
        return { "vulkan-decode-fragments", "the GPU is one of NVIDIA with matrix units of 16x8x16" };
    return known->matrices ? turbo_gpu_kernel{ "vulkan-decode-matrix", "the GPU has matrix units of 16x16x16" }
                           : turbo_gpu_kernel{ "vulkan-decode-fp16", "the GPU has no matrix units of 16x16x16" };
}

uint64_t turbo_vulkan_copy_bytes(
    ggml_backend_dev_t dev, ggml_type type_k, ggml_type type_v, uint64_t n_k, uint64_t n_v) {
    const turbo_vk_facts * known = turbo_vk_facts_of(dev);
    if (!known) return 0;
    const auto copies = [](ggml_type type) { return ggml_turbo_is_turbo(type) || type == GGML_TYPE_Q8_0; };
    const bool ours = ggml_turbo_is_turbo(type_k) || ggml_turbo_is_turbo(type_v);
    if (!copies(type_k) || !copies(type_v) || !(ours ? known->copies : known->copies_q8_0)) return 0;
    const uint64_t f16 = ggml_type_size(GGML_TYPE_F16);
    // of a larger cache as many cells as a shader may see: with more in use, upstream makes no copy
    const uint64_t most = f16 * std::max(n_k, n_v);
    const double part = most > known->max_range ? (double) known->max_range / most : 1.0;
    return (uint64_t) (part * (n_k + n_v)) * f16;
}
