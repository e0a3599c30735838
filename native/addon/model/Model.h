// A loaded model. Contexts hold it by shared_ptr: it is freed when the last of them is.
#pragma once

#include "model/ChatFormat.h"
#include "model/Spread.h"

#include "llama.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace concertina {

struct Model {
    llama_model * handle = nullptr;
    std::string path;
    uint32_t trained = 0; // tokens that it says it was trained for; 0: it does not say
    int gpuLayers = 0; // effective; those at workers are among them
    int gpuLayersAsked = 0; // negative: all
    std::unique_ptr<ChatFormat> chat;
    uint64_t fingerprint = 0;
    std::mutex makingContext; // a calibration is the only context that is being made

    Model() = default;
    ~Model();
    Model(const Model &) = delete;
    Model & operator=(const Model &) = delete;

    const llama_vocab * vocab() const { return llama_model_get_vocab(handle); }
    std::vector<llama_token> tokenize(const std::string & text, bool addSpecial, bool parseSpecial) const;
    // throws `bad-request` for a number that is no token
    void checkTokens(const std::vector<llama_token> & tokens) const;
    std::string detokenize(const std::vector<llama_token> & tokens) const;
    // no token holds a line break and a letter, digit or '[' behind it: text that is cut there has as many tokens as whole
    bool splitsAtLines() const;
};

// The file was looked at before (electron/engine/native/inspect.ts): llama.cpp ends the process over some.
// `dry`: only the header and the vocabulary; contexts of such a model allocate nothing. `mtp`: with the layers that draft
std::shared_ptr<Model> loadModel(const std::string & path, const Spread & spread, bool dry, bool mtp,
    const std::atomic<bool> & cancel, const std::function<void(float)> & onProgress);

} // namespace concertina
