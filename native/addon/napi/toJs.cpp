// The JavaScript value of each struct that the addon returns.

#include "napi/convert.h"

#include <algorithm>

namespace concertina {
namespace {

void set(Napi::Object & object, const char * name, uint64_t value) {
    object.Set(name, Napi::Number::New(object.Env(), static_cast<double>(value)));
}

Napi::Value textOrNull(Napi::Env env, const std::string & text) {
    return text.empty() ? env.Null() : Napi::Value(Napi::String::New(env, text));
}

Napi::Array textsToJs(Napi::Env env, const std::vector<std::string> & texts) {
    Napi::Array array = Napi::Array::New(env, texts.size());
    for (size_t i = 0; i < texts.size(); i++) array.Set(static_cast<uint32_t>(i), texts[i]);
    return array;
}

// An array of what `fill` puts into an object for each item.
template <typename T, typename FILL> Napi::Array objectsToJs(Napi::Env env, const std::vector<T> & items, FILL fill) {
    Napi::Array array = Napi::Array::New(env, items.size());
    for (size_t i = 0; i < items.size(); i++) {
        Napi::Object object = Napi::Object::New(env);
        fill(object, items[i]);
        array.Set(static_cast<uint32_t>(i), object);
    }
    return array;
}

Napi::Object ropeToJs(Napi::Env env, const RopeScaling & rope) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("kind", rope.kind);
    object.Set("factor", rope.factor);
    return object;
}

Napi::Object typeToJs(Napi::Env env, const EffectiveType & type) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("asked", type.asked);
    object.Set("effective", type.effective);
    object.Set("reason", type.reason);
    return object;
}

Napi::Array gpusToJs(Napi::Env env, const std::vector<Gpu> & gpus) {
    return objectsToJs(env, gpus, [](Napi::Object & object, const Gpu & gpu) {
        object.Set("backend", gpu.backend);
        object.Set("name", gpu.name);
        set(object, "memoryBytes", gpu.memoryBytes);
    });
}

Napi::Array candidatesToJs(Napi::Env env, const std::vector<Candidate> & candidates) {
    return objectsToJs(env, candidates, [](Napi::Object & object, const Candidate & candidate) {
        object.Set("token", candidate.token);
        object.Set("probability", candidate.probability);
    });
}

Napi::Array placesToJs(Napi::Env env, const std::vector<AttentionPlace> & places) {
    return objectsToJs(env, places, [](Napi::Object & object, const AttentionPlace & place) {
        object.Set("backend", place.backend);
        object.Set("device", place.device);
        object.Set("layerBackend", place.layerBackend);
        object.Set("window", place.window);
        object.Set("layers", place.layers);
    });
}

} // namespace

Napi::Value bytesToJs(Napi::Env env, const std::vector<uint8_t> & bytes) {
    Napi::Uint8Array array = Napi::Uint8Array::New(env, bytes.size());
    std::copy(bytes.begin(), bytes.end(), array.Data());
    return array;
}

Napi::Value tokensToJs(Napi::Env env, const std::vector<llama_token> & tokens) {
    Napi::Int32Array array = Napi::Int32Array::New(env, tokens.size());
    std::copy(tokens.begin(), tokens.end(), array.Data());
    return array;
}

Napi::Value toJs(Napi::Env env, const Capabilities & value) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("backend", value.backend);
    object.Set("device", value.device);
    object.Set("chipFamily", textOrNull(env, value.chipFamily));
    object.Set("simd", value.simd);
    object.Set("simdBest", value.simdBest);
    object.Set("simdAsked", value.simdAsked);
    object.Set("simdWeights", value.simdWeights);
    object.Set("gpuBackends", textsToJs(env, value.gpuBackends));
    object.Set("gpus", gpusToJs(env, value.gpus));
    object.Set("kernelVariant", value.kernelVariant);
    object.Set("cacheTypes", textsToJs(env, value.cacheTypes));
    object.Set("warnings", textsToJs(env, value.warnings));
    object.Set("upstream", value.upstream);
    object.Set("physicalCores", value.physicalCores);
    set(object, "totalMemoryBytes", value.totalMemoryBytes);
    return object;
}

Napi::Value toJs(Napi::Env env, const std::vector<Bandwidth> & value) {
    Napi::Array array = Napi::Array::New(env, value.size());
    for (size_t i = 0; i < value.size(); i++) {
        Napi::Object object = Napi::Object::New(env);
        object.Set("threads", value[i].threads);
        object.Set("bytesPerSecond", value[i].bytesPerSecond);
        array.Set(static_cast<uint32_t>(i), object);
    }
    return array;
}

Napi::Value toJs(Napi::Env env, const ModelInfo & value) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("name", value.name);
    object.Set("architecture", value.architecture);
    set(object, "fileBytes", value.fileBytes);
    set(object, "parameters", value.parameters);
    object.Set("quantization", value.quantization);
    object.Set("layers", value.layers);
    object.Set("headCount", value.headCount);
    object.Set("headCountKv", value.headCountKv);
    object.Set("headDimK", value.headDimK);
    object.Set("headDimV", value.headDimV);
    object.Set("nCtxTrain", value.nCtxTrain);
    object.Set("vocabSize", value.vocabSize);
    object.Set("hasChatTemplate", value.hasChatTemplate);
    object.Set("hasKBias", value.hasKBias);
    object.Set("license", textOrNull(env, value.license));
    return object;
}

static Napi::Value toJs(Napi::Env env, const EffectiveCentering & value) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("k", value.k);
    object.Set("v", value.v);
    object.Set("reasonK", value.reasonK);
    object.Set("reasonV", value.reasonV);
    return object;
}

static Napi::Value toJs(Napi::Env env, const std::vector<KernelUse> & uses) {
    return objectsToJs(env, uses, [](Napi::Object & object, const KernelUse & use) {
        object.Set("backend", use.backend);
        object.Set("from", use.from);
        object.Set("name", use.name);
        object.Set("why", use.why);
    });
}

Napi::Value toJs(Napi::Env env, const EffectiveContext & value) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("nCtx", value.nCtx);
    object.Set("nCtxAsked", value.nCtxAsked);
    object.Set("nCtxTrained", value.nCtxTrained);
    object.Set("typeK", typeToJs(env, value.typeK));
    object.Set("typeV", typeToJs(env, value.typeV));
    object.Set("centring", toJs(env, value.centering));
    object.Set("rope", ropeToJs(env, value.rope));
    object.Set("kernels", toJs(env, value.kernels));
    object.Set("flashAttention", value.flashAttention);
    object.Set("flashAttentionAsked", value.flashAttentionAsked);
    object.Set("threads", value.threads);
    object.Set("gpuLayersAsked", value.gpuLayersAsked);
    object.Set("gpuLayers", value.placement.offloaded);
    object.Set("layers", value.placement.layers);
    object.Set("attention", placesToJs(env, value.placement.attention));
    object.Set("batch", value.batch);
    object.Set("chatTemplate", value.chatTemplate);
    object.Set("notes", textsToJs(env, value.notes));
    return object;
}

Napi::Value toJs(Napi::Env env, const PartBytes & value) {
    Napi::Object object = Napi::Object::New(env);
    set(object, "weights", value.weights);
    set(object, "kvK", value.kvK);
    set(object, "kvV", value.kvV);
    set(object, "kvF16", value.kvF16);
    set(object, "compute", value.compute);
    return object;
}

Napi::Value toJs(Napi::Env env, const std::vector<DeviceUse> & value) {
    return objectsToJs(env, value, [](Napi::Object & object, const DeviceUse & use) {
        object.Set("name", use.name);
        object.Set("kind", use.kind);
        set(object, "weights", use.weights);
        set(object, "mapped", use.mapped);
        set(object, "context", use.context);
        set(object, "compute", use.compute);
    });
}

Napi::Value toJs(Napi::Env env, const std::vector<DeviceMemory> & value) {
    return objectsToJs(env, value, [env](Napi::Object & object, const DeviceMemory & memory) {
        object.Set("name", memory.name);
        object.Set("kind", memory.kind);
        object.Set("free", memory.free ? Napi::Number::New(env, static_cast<double>(*memory.free)) : env.Null());
        set(object, "total", memory.total);
    });
}

Napi::Value toJs(Napi::Env env, const MemoryEstimate & value) {
    Napi::Object object = toJs(env, value.bytes).As<Napi::Object>();
    object.Set("typeK", typeToJs(env, value.typeK));
    object.Set("typeV", typeToJs(env, value.typeV));
    object.Set("nCtx", value.nCtx);
    object.Set("trained", value.trained);
    object.Set("devices", toJs(env, value.devices));
    return object;
}

Napi::Value toJs(Napi::Env env, const Evaluation & value) {
    const auto figure = [&](double number) {
        return value.compared ? Napi::Value(Napi::Number::New(env, number)) : env.Null();
    };
    Napi::Object object = Napi::Object::New(env);
    set(object, "tokens", value.tokens);
    object.Set("perplexity", value.perplexity);
    object.Set("meanKld", figure(value.meanKld));
    object.Set("meanKldError", figure(value.meanKldError));
    object.Set("kld999", figure(value.kld999));
    object.Set("sameTop", figure(value.sameTop));
    return object;
}

Napi::Value comparisonToJs(Napi::Env env, const std::vector<Evaluation> & values) {
    const size_t compared = values.size() - 1;
    Napi::Array results = Napi::Array::New(env, compared);
    Napi::Array klds = Napi::Array::New(env, compared);
    for (uint32_t i = 0; i < compared; i++) {
        Napi::Float32Array own = Napi::Float32Array::New(env, values[i].klds.size());
        std::copy(values[i].klds.begin(), values[i].klds.end(), own.Data());
        results.Set(i, toJs(env, values[i]));
        klds.Set(i, own);
    }
    Napi::Object object = Napi::Object::New(env);
    object.Set("reference", toJs(env, values.back()));
    object.Set("results", results);
    object.Set("klds", klds);
    return object;
}

Napi::Value toJs(Napi::Env env, const PrefillProgress & value) {
    Napi::Object object = Napi::Object::New(env);
    set(object, "promptTokens", value.promptTokens);
    set(object, "cachedTokens", value.cachedTokens);
    set(object, "done", value.done);
    object.Set("elapsedMs", value.elapsedMs);
    return object;
}

Napi::Value toJs(Napi::Env env, const GenerateChunk & value) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("text", value.text);
    object.Set("thinking", value.thinking);
    set(object, "answerTokens", value.answerTokens);
    set(object, "contextUsed", value.contextUsed);
    object.Set("elapsedMs", value.elapsedMs);
    if (value.token != LLAMA_TOKEN_NULL) object.Set("token", value.token);
    if (!value.candidates.empty()) object.Set("candidates", candidatesToJs(env, value.candidates));
    return object;
}

Napi::Value toJs(Napi::Env env, const UpstreamTimings & value) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("promptMs", value.promptMs);
    object.Set("decodeMs", value.decodeMs);
    set(object, "promptTokens", value.promptTokens);
    set(object, "decodeTokens", value.decodeTokens);
    return object;
}

Napi::Value toJs(Napi::Env env, const GenerateResult & value) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("stopReason", value.stopReason);
    object.Set("text", value.text);
    object.Set("thinking", value.thinking);
    set(object, "promptTokens", value.promptTokens);
    set(object, "cachedTokens", value.cachedTokens);
    set(object, "rereadTokens", value.rereadTokens);
    set(object, "answerTokens", value.answerTokens);
    set(object, "contextUsed", value.contextUsed);
    object.Set("ttftMs", value.ttftMs);
    object.Set("promptMs", value.promptMs);
    object.Set("decodeMs", value.decodeMs);
    set(object, "decodeTokens", value.decodeTokens);
    object.Set("evalMs", value.evalMs);
    object.Set("upstream", toJs(env, value.upstream));
    object.Set("seed", value.seed);
    return object;
}

} // namespace concertina
