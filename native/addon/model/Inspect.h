// What the header of a GGUF file says, its texts as they are there. Weights are not read; that the file is long enough for them is
// checked.
#pragma once

#include "fields.h"

#include <cstdint>
#include <optional>
#include <string>

namespace concertina {

// What the author of a model recommends (`general.sampling.*`), as the file has it: the numbers may be any.
struct ModelSampling {
    std::optional<double> temperature, topK, topP, minP, repeatPenalty, penaltyTokens, xtcProbability, xtcThreshold;

    CONCERTINA_FIELDS(temperature, topK, topP, minP, repeatPenalty, penaltyTokens, xtcProbability, xtcThreshold)
};

struct ModelInfo {
    std::string name;
    std::string architecture;
    uint64_t fileBytes = 0;
    uint64_t parameters = 0;
    std::string quantization;
    int layers = 0;
    int headCount = 0;
    int headCountKv = 0;
    int headDimK = 0;
    int headDimV = 0;
    int nCtxTrain = 0;
    int vocabSize = 0;
    bool hasChatTemplate = false;
    bool hasKBias = false;
    std::string license;
    ModelSampling sampling;

    CONCERTINA_FIELDS(name, architecture, fileBytes, parameters, quantization, layers, headCount, headCountKv, headDimK,
        headDimV, nCtxTrain, vocabSize, hasChatTemplate, hasKBias, license, sampling)
};

// throws `model-missing` or `model-invalid`
ModelInfo inspect(const std::string & path);

} // namespace concertina
