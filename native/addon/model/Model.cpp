#include "model/Model.h"

#include "LogSink.h"
#include "context/internals.h"
#include "errors.h"
#include "model/Fingerprint.h"

#include "common.h"
#include "llama-turbo-calibration.h"

#include <algorithm>
#include <cctype>

namespace concertina {
namespace {

struct Progress {
    const std::atomic<bool> & cancel;
    const std::function<void(float)> & report;
};

bool onProgress(float fraction, void * data) {
    const auto * progress = static_cast<Progress *>(data);
    if (progress->report) progress->report(fraction);
    return !progress->cancel.load();
}

[[noreturn]] void explain(const std::string & path, const std::string & log) {
    const auto says = [&](const char * words) { return log.find(words) != std::string::npos; };
    if (says("unknown model architecture") || says("unknown pre-tokenizer")) {
        throw CodedError("model-unsupported", withLog(path + " is of a kind that this version cannot run", log),
            "Choose another model, or update the app.");
    }
    if (const auto error = failedAllocation(log, "Close other programs, or choose a smaller model or quantization."))
        throw *error;
    throw CodedError(
        "model-invalid", withLog(path + " cannot be loaded", log), "Download the file again, or choose another one.");
}

// what llama.cpp asserts when it reads a text
void checkVocabulary(const llama_vocab * vocab, const std::string & path) {
    if (llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_NONE) return; // it cannot read any: see tokenize
    const bool wordPieces = llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_WPM;
    const auto require = [&](bool wanted, llama_token token, const char * what) {
        if (!wanted || token != LLAMA_TOKEN_NULL) return;
        throw CodedError("model-invalid",
            path + " is damaged: its vocabulary has no token " + what + ", and puts it into every text",
            "Download the file again, or choose another one.");
    };
    require(wordPieces || llama_vocab_get_add_bos(vocab), llama_vocab_bos(vocab), "for the beginning");
    require(!wordPieces && llama_vocab_get_add_eos(vocab), llama_vocab_eos(vocab), "for the end");
    require(wordPieces, llama_vocab_sep(vocab), "between two parts");
}

} // namespace

Model::~Model() {
    if (!handle) return;
    llama_turbo_calibration_attach(handle, nullptr);
    llama_model_free(handle);
}

std::vector<llama_token> Model::tokenize(const std::string & text, bool addSpecial, bool parseSpecial) const {
    if (llama_vocab_type(vocab()) == LLAMA_VOCAB_TYPE_NONE) {
        throw CodedError("model-unsupported", path + " has no vocabulary", "Choose a chat model.");
    }
    return common_tokenize(vocab(), text, addSpecial, parseSpecial);
}

void Model::checkTokens(const std::vector<llama_token> & tokens) const {
    const int32_t count = llama_vocab_n_tokens(vocab());
    for (const llama_token token : tokens) {
        if (token < 0 || token >= count)
            throw CodedError("bad-request", "Token " + std::to_string(token) + " is not in the vocabulary");
    }
}

std::string Model::detokenize(const std::vector<llama_token> & tokens) const {
    checkTokens(tokens);
    return common_detokenize(vocab(), tokens, true);
}

bool Model::splitsAtLines() const {
    const int32_t count = llama_vocab_n_tokens(vocab());
    for (llama_token token = 0; token < count; token++) {
        const std::string piece = common_token_to_piece(vocab(), token, true);
        for (size_t at = 1; at < piece.size(); at++) {
            const auto next = static_cast<unsigned char>(piece[at]);
            if (piece[at - 1] == '\n' && (std::isalnum(next) || next == '[')) return false;
        }
    }
    return true;
}

std::shared_ptr<Model> loadModel(const std::string & path, const Spread & spread, bool dry, bool mtp,
    const std::atomic<bool> & cancel, const std::function<void(float)> & report) {
    auto model = std::make_shared<Model>();
    model->path = path;
    model->gpuLayersAsked = spread.found ? -1 : spread.gpuLayers;

    Progress progress{ cancel, report };
    const LoaderParams loader(spread, dry, mtp);
    llama_model_params params = loader.params;
    params.progress_callback = onProgress;
    params.progress_callback_user_data = &progress;

    const LogSink::Capture log;
    model->handle = llama_model_load_from_file(path.c_str(), params);
    if (cancel) throw CodedError("cancelled", "Loading was cancelled");
    if (!model->handle) explain(path, log.errors());
    // encoder-decoder models want their encoder run first, which a chat never does
    if (llama_model_has_encoder(model->handle) || !llama_model_has_decoder(model->handle) ||
        llama_vocab_n_tokens(model->vocab()) == 0) {
        throw CodedError("model-unsupported", path + " cannot write text", "Choose a chat model.");
    }
    checkVocabulary(model->vocab(), path);
    // later it is raised now and then, see TrainedContextGuard
    model->trained = static_cast<uint32_t>(std::max(0, llama_model_n_ctx_train(model->handle)));
    const int layers = llama_model_n_layer(model->handle) + 1; // the output layer counts as one
    const bool offloads = llama_supports_gpu_offload() || !spread.workers.empty();
    model->gpuLayers = !offloads ? 0 : spread.gpuLayers < 0 ? layers : std::min(spread.gpuLayers, layers);
    model->fingerprint = fingerprint(path);
    if (dry) return model;
    model->chat = ChatFormat::ofModel(model->handle, cancel);
    return model;
}

} // namespace concertina
