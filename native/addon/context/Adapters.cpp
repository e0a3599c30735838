#include "context/Adapters.h"

#include "errors.h"
#include "machine/Capabilities.h"
#include "model/Fingerprint.h"

#include "ggml-alloc.h"
#include "ggml-cpp.h"
#include "gguf.h"
#include "llama-adapter.h"
#include "llama-model.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace concertina {
namespace {

// Why a file cannot be used with the model, as a sentence.
struct AdapterMisfit : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr char embeddings[] = "token_embd.weight";
constexpr char tokenKey[] = "adapter.alora.invocation_tokens";

std::string textOf(const gguf_context * header, const char * key) {
    const int64_t id = gguf_find_key(header, key);
    return id >= 0 && gguf_get_kv_type(header, id) == GGUF_TYPE_STRING ? gguf_get_val_str(header, id) : "";
}

struct Pair {
    ggml_tensor *a = nullptr, *b = nullptr;
};

// "blk.0.attn_q.weight.lora_a" -> the tensor that it is for; upstream passes over those of norms
std::map<std::string, Pair> pairsOf(ggml_context * tensors) {
    std::map<std::string, Pair> pairs;
    for (ggml_tensor * one = ggml_get_first_tensor(tensors); one; one = ggml_get_next_tensor(tensors, one)) {
        const std::string name = one->name;
        const auto endsIn = [&](const std::string & end) {
            return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
        };
        if (endsIn("_norm.weight")) continue;
        if (!endsIn(".lora_a") && !endsIn(".lora_b"))
            throw AdapterMisfit("Its tensor " + quoted(name) + " is of a kind that llama.cpp does not know.");
        Pair & pair = pairs[name.substr(0, name.size() - 7)];
        (name.back() == 'a' ? pair.a : pair.b) = one;
    }
    if (pairs.empty()) throw AdapterMisfit("It changes nothing: it has no tensors.");
    return pairs;
}

std::string shapeOf(const ggml_tensor * tensor) {
    return std::to_string(tensor->ne[0]) + " x " + std::to_string(tensor->ne[1]);
}

// What upstream checks (llama_adapter_lora_init), and what ggml asserts when it multiplies.
void requireFit(const std::string & name, const Pair & pair, const ggml_tensor * weights) {
    const std::string tensor = "tensor " + quoted(name);
    if (!pair.a || !pair.b) throw AdapterMisfit("It is damaged: of two matrices for " + tensor + " it has one.");
    if (!weights)
        throw AdapterMisfit(
            "It changes " + tensor + ", which this model does not have: it was made for another model.");
    const ggml_tensor &a = *pair.a, &b = *pair.b;
    const bool embeds = name == embeddings; // its matrices are the other way round
    const bool outer = embeds ? weights->ne[0] == b.ne[1] && weights->ne[1] == a.ne[1]
                              : weights->ne[0] == a.ne[0] && weights->ne[1] == b.ne[1];
    const bool inner = embeds ? a.ne[0] == b.ne[0] : a.ne[1] == b.ne[0];
    const auto deep = [&](const ggml_tensor & one) { return one.ne[2] == weights->ne[2] && one.ne[3] == 1; };
    if (!outer || !deep(a) || !deep(b))
        throw AdapterMisfit("Its matrices for " + tensor + " are for another size than " + shapeOf(weights) +
                            ", which it has here: it was made for another model, of another size maybe.");
    if (!inner || b.ne[0] < 1)
        throw AdapterMisfit("It is damaged: its matrices for " + tensor + " do not fit together.");
    for (const ggml_tensor * one : { &a, &b }) {
        const bool number = one->type == GGML_TYPE_F32 || one->type == GGML_TYPE_F16 || one->type == GGML_TYPE_BF16;
        if (!number && !ggml_is_quantized(one->type))
            throw AdapterMisfit(
                "It is damaged: its numbers for " + tensor + " are of the type " + ggml_type_name(one->type) + ".");
    }
    if (weights->type == GGML_TYPE_NVFP4)
        throw AdapterMisfit(
            "The weights of this model are NVFP4, which llama.cpp cannot adapt. Get it in another quantization.");
}

// as upstream chooses it: no repacked buffer of the processor
ggml_backend_buffer_type_t bufferTypeFor(const ggml_tensor * weights) {
    ggml_backend_buffer_type_t type = ggml_backend_buffer_get_type(weights->buffer);
    ggml_backend_dev_t processor = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    const auto extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(processor), "ggml_backend_dev_get_extra_bufts"));
    for (auto * one = extra ? extra(processor) : nullptr; one && *one; one++) {
        if (*one == type) return ggml_backend_dev_buffer_type(processor);
    }
    return type;
}

std::string nameOfFile(const std::string & path) { return std::filesystem::u8path(path).filename().u8string(); }

} // namespace

Adapters::Adapters(const ContextOptions & asked, const common_params & core, llama_model * loaded, bool isDry)
    : model(loaded), dry(isDry) {
    const size_t own = asked.adapters.size();
    const size_t byOptions = core.lora_adapters.size() - own; // they come first: see coreParams
    if (own > 0 && byOptions > 0)
        throw CodedError("context-invalid",
            "Adapters are chosen twice: in the settings, and by options of llama-server",
            "Leave out the ones or the others.");
    for (size_t i = 0; i < core.lora_adapters.size(); i++) {
        const common_adapter_lora_info & one = core.lora_adapters[i];
        const auto & problems = asked.problems.adapters;
        const uint64_t size = add(one.path, i < problems.size() ? problems[i] : "", own == 0);
        used.push_back(
            { nameOfFile(one.path), one.scale, size, checksumText(concertina::fingerprint(one.path)), own == 0 });
    }
}

Adapters::~Adapters() = default;

uint64_t Adapters::add(const std::string & path, const std::string & problem, bool byOption) {
    try {
        if (!problem.empty()) throw AdapterMisfit(problem);
        ggml_context * read = nullptr;
        const gguf_context_ptr header(gguf_init_from_file(path.c_str(), { true, &read }));
        const ggml_context_ptr tensors(read);
        if (!header) throw AdapterMisfit("It cannot be read.");
        char architecture[128] = "";
        llama_model_meta_val_str(model, "general.architecture", architecture, sizeof architecture);
        const std::string wanted = textOf(header.get(), "general.architecture");
        if (wanted != architecture)
            throw AdapterMisfit("It was made for models of the architecture " + quoted(wanted) + ", and this one is " +
                                architecture + ".");
        if (!byOption && gguf_find_key(header.get(), tokenKey) >= 0)
            throw AdapterMisfit("It is one that works only behind certain words (aLoRA). They are for the API alone: "
                                "give it as an option "
                                "of llama-server, behind --.");

        std::unique_ptr<llama_adapter_lora, void (*)(llama_adapter_lora *)> shape(
            new llama_adapter_lora(model), llama_adapter_lora_free);
        shape->alpha = 1; // with a scale, whatever it is, graphs are the same
        const std::map<std::string, Pair> pairs = pairsOf(tensors.get());
        std::map<ggml_backend_buffer_type_t, ggml_context *> places;
        for (const auto & [name, pair] : pairs) {
            const ggml_tensor * weights = model->get_tensor(name.c_str());
            requireFit(name, pair, weights);
            // ggml would end the process over the matrices, which are the other way round
            if (name == embeddings && model->output && model->output->name == name)
                throw AdapterMisfit("It changes the token embeddings, from which this model makes its output, too; "
                                    "llama.cpp cannot do that.");
            ggml_backend_buffer_type_t type = bufferTypeFor(weights);
            ggml_context *& place = places[type];
            if (!place) {
                place = ggml_init({ 2 * pairs.size() * ggml_tensor_overhead(), nullptr, true });
                shape->ctxs.emplace_back(place);
            }
            shape->ab_map[name] = { ggml_dup_tensor(place, pair.a), ggml_dup_tensor(place, pair.b) };
        }
        uint64_t all = 0;
        for (const auto & [type, place] : places) {
            const uint64_t size = ggml_backend_alloc_ctx_tensors_from_buft_size(place, type);
            bytes[ggml_backend_buft_is_host(type) ? nullptr : ggml_backend_buft_get_device(type)] += size;
            all += size;
            // none of it is allocated, and the scheduler is not to try
            shape->bufs.emplace_back(ggml_backend_buft_alloc_buffer(type, 0));
            for (auto * one = ggml_get_first_tensor(place); one; one = ggml_get_next_tensor(place, one))
                one->buffer = shape->bufs.back().get();
        }
        if (dry) model->loras.insert(shape.get());
        if (dry) shapes.push_back(std::move(shape));
        return all;
    } catch (const AdapterMisfit & misfit) {
        throw CodedError("context-invalid", "The adapter " + nameOfFile(path) + " cannot be used. " + misfit.what(),
            byOption ? "Change the options of llama-server that choose it."
                     : "Take it out of the settings of this model, or choose another one.");
    }
}

void Adapters::apply(llama_context * context) const {
    if (shapes.empty()) return;
    std::vector<llama_adapter_lora *> adapters;
    std::vector<float> scales;
    for (size_t i = 0; i < shapes.size(); i++) {
        adapters.push_back(shapes[i].get());
        scales.push_back(static_cast<float>(used[i].scale));
    }
    llama_set_adapters_lora(context, adapters.data(), adapters.size(), scales.data());
    reserve(context);
}

void Adapters::addTo(MemoryUse & use) const {
    for (const auto & [device, size] : bytes) {
        const std::string name = nameOf(device);
        auto there = std::find_if(
            use.devices.begin(), use.devices.end(), [&](const DeviceUse & one) { return one.name == name; });
        if (there == use.devices.end()) there = use.devices.insert(there, DeviceUse{ name, kindOf(device) });
        there->weights += size;
        use.parts.weights += size;
    }
}

} // namespace concertina
