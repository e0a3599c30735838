#include "measure/Evaluate.h"

#include "errors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace concertina {
namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = { 'C', 'N', 'C', 'T', 'L', 'P', '0', '1' };

struct Header {
    char mark[sizeof magic] = {};
    uint64_t vocabulary = 0;
    uint64_t rows = 0;
};

// Log-probabilities of all tokens at each scored place, on disk: a reference that does not fit into memory beside the
// context that is judged by it. Rows of float32 behind a header, in the machine's own byte order: a file of one run.
class LogProbWriter {
public:
    // throws `storage-failed`, here and below
    LogProbWriter(const std::string & path, int vocabulary)
        : path(path), file(fs::u8path(path), std::ios::binary | std::ios::trunc) {
        write(&header, sizeof header); // without its mark until all rows are there
        header.vocabulary = static_cast<uint64_t>(vocabulary);
    }

    void add(const std::vector<float> & row) {
        write(row.data(), row.size() * sizeof(float));
        header.rows++;
    }

    // everything is on its way to the disk; without it the file is not one
    void finish() {
        std::memcpy(header.mark, magic, sizeof magic);
        file.seekp(0);
        write(&header, sizeof header);
        file.close();
        if (!file) notWritten();
    }

private:
    void write(const void * data, size_t bytes) {
        if (!file.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes))) notWritten();
    }

    [[noreturn]] void notWritten() const {
        throw CodedError("storage-failed", path + " could not be written", "Check the free space of the disk.");
    }

    std::string path;
    std::ofstream file;
    Header header;
};

class LogProbReader {
public:
    // throws `data-corrupt` for a file that is not whole, or of another number of rows or tokens
    LogProbReader(const std::string & path, int vocabulary, size_t rows)
        : path(path), file(fs::u8path(path), std::ios::binary) {
        Header header;
        file.read(reinterpret_cast<char *>(&header), sizeof header);
        if (!file || std::memcmp(header.mark, magic, sizeof magic) != 0)
            throw CodedError("data-corrupt", path + " holds no log-probabilities, or not all of them");
        if (header.vocabulary != static_cast<uint64_t>(vocabulary) || header.rows != rows)
            throw CodedError("data-corrupt", path + " holds the log-probabilities of another text or model");
    }

    // `row`: as many as the vocabulary has tokens
    void next(std::vector<float> & row) {
        if (!file.read(reinterpret_cast<char *>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(float))))
            throw CodedError("data-corrupt", path + " is cut short");
    }

private:
    std::string path;
    std::ifstream file;
};

constexpr size_t minChunk = 8;
// llama-perplexity leaves out tokens that the reference holds for less likely than this
constexpr float negligible = -16.0f;

struct Distribution {
    const float * logits;
    int size;
    int top = 0;
    float logSum = 0; // log p(i) = logits[i] - logSum

    // `normal`: these are log-probabilities already
    Distribution(const float * logits, int size, bool normal = false) : logits(logits), size(size) {
        for (int i = 1; i < size; i++) {
            if (logits[i] > logits[top]) top = i;
        }
        if (normal) return;
        double sum = 0;
        for (int i = 0; i < size; i++) sum += std::exp(logits[i] - logits[top]);
        logSum = logits[top] + static_cast<float>(std::log(sum));
    }

    float logP(int token) const { return logits[token] - logSum; }
};

double divergence(const Distribution & from, const Distribution & to) {
    double sum = 0;
    for (int i = 0; i < from.size; i++) {
        const float p = from.logP(i);
        if (p > negligible) sum += std::exp(p) * (p - to.logP(i));
    }
    return sum;
}

float percentile(const std::vector<float> & sorted, float fraction) {
    const float at = fraction * static_cast<float>(sorted.size() - 1);
    const auto below = static_cast<size_t>(at);
    const float rest = at - static_cast<float>(below);
    return (1 - rest) * sorted[below] + rest * sorted[std::min(below + 1, sorted.size() - 1)];
}

// Figures of one context.
class Tally {
public:
    void score(const Distribution & own, llama_token next) {
        nll -= own.logP(next);
        counted++;
    }

    void compare(const Distribution & own, const Distribution & base) {
        const double value = divergence(base, own);
        kld += value;
        square += value * value;
        klds.push_back(static_cast<float>(value));
        same += base.top == own.top;
    }

    Evaluation result() {
        const auto count = static_cast<double>(counted);
        Evaluation figures;
        figures.tokens = counted;
        figures.perplexity = std::exp(nll / count);
        if (klds.empty()) return figures;
        figures.klds = klds;
        std::sort(klds.begin(), klds.end());
        const double mean = kld / count;
        figures.meanKld = mean;
        figures.kld999 = percentile(klds, 0.999f);
        figures.sameTop = static_cast<double>(same) / count;
        const double variance = square / count - mean * mean;
        figures.meanKldError = counted > 1 ? std::sqrt(std::max(0.0, variance) / (count - 1)) : 0;
        return figures;
    }

private:
    double nll = 0, kld = 0, square = 0;
    size_t counted = 0, same = 0;
    std::vector<float> klds;
};

// llama-perplexity's: the second half of a chunk, whose last token predicts nothing
size_t firstScored(size_t score, size_t length) {
    const size_t half = length / 2;
    return score == 0 ? half : std::max(half, length - std::min(length, score + 1));
}

class Run {
public:
    Run(const EvaluateRequest & request, size_t length)
        : request(request), length(length), tallies(request.contexts.size() + 1) {
        vocabulary = llama_vocab_n_tokens(request.contexts[0]->model->vocab());
        first = firstScored(request.score, length);
        const size_t rows = request.tokens.size() / length * (length - first - 1);
        if (!request.record.empty()) record.emplace(request.record, vocabulary);
        if (!request.against.empty()) against.emplace(request.against, vocabulary, rows);
        batch = request.contexts[0]->effective.batch;
        each([&](Context & context) { batch = std::min(batch, context.effective.batch); });
        total = request.tokens.size() / length * length * (request.contexts.size() + (request.reference ? 1 : 0));
    }

    std::vector<Evaluation> all() {
        for (size_t at = 0; at + length <= request.tokens.size(); at += length) chunk(request.tokens.data() + at);
        if (record) record->finish();
        if (!request.reference) tallies.pop_back();
        std::vector<Evaluation> results;
        for (Tally & tally : tallies) results.push_back(tally.result());
        return results;
    }

    void clear() {
        each([](Context & context) { context.clear(); });
    }

private:
    template <typename Body> void each(Body body) {
        for (Context * context : request.contexts) body(*context);
        if (request.reference) body(*request.reference);
    }

    void chunk(const llama_token * original) {
        std::vector<llama_token> tokens(original, original + length);
        const llama_vocab * vocab = request.contexts[0]->model->vocab();
        if (llama_vocab_get_add_bos(vocab)) tokens[0] = llama_vocab_bos(vocab);
        clear();
        for (size_t at = 0; at < first;) {
            const size_t count = std::min<size_t>(batch, first - at);
            each([&](Context & context) { decode(context, tokens.data() + at, count, 0); });
            at += count;
        }
        for (size_t at = first; at < length;) {
            const size_t count = std::min<size_t>(std::min(batch, maxOutputs), length - at);
            scored(tokens.data() + at, count, original + at + 1, std::min(count, length - at - 1));
            at += count;
        }
    }

    // `next`: the tokens that the first `known` of these tokens are followed by
    void scored(const llama_token * tokens, size_t count, const llama_token * next, size_t known) {
        std::vector<Distribution> base;
        if (request.reference) {
            base = distributions(*request.reference, tokens, count, known);
            for (size_t i = 0; i < known; i++) tallies.back().score(base[i], next[i]);
        }
        if (against) base = recorded(known);
        for (size_t c = 0; c < request.contexts.size(); c++) {
            const std::vector<Distribution> own = distributions(*request.contexts[c], tokens, count, known);
            if (record) keep(own);
            for (size_t i = 0; i < known; i++) {
                tallies[c].score(own[i], next[i]);
                if (!base.empty()) tallies[c].compare(own[i], base[i]);
            }
        }
    }

    // valid until the next decode of the same context
    std::vector<Distribution> distributions(Context & context, const llama_token * tokens, size_t count, size_t known) {
        decode(context, tokens, count, count);
        std::vector<Distribution> found;
        for (size_t i = 0; i < known; i++)
            found.emplace_back(llama_get_logits_ith(context.handle, static_cast<int32_t>(i)), vocabulary);
        return found;
    }

    // valid until the next call
    std::vector<Distribution> recorded(size_t known) {
        rows.assign(known, std::vector<float>(static_cast<size_t>(vocabulary)));
        std::vector<Distribution> found;
        for (std::vector<float> & row : rows) {
            against->next(row);
            found.emplace_back(row.data(), vocabulary, true);
        }
        return found;
    }

    void keep(const std::vector<Distribution> & own) {
        std::vector<float> row(static_cast<size_t>(vocabulary));
        for (const Distribution & one : own) {
            for (int i = 0; i < vocabulary; i++) row[static_cast<size_t>(i)] = one.logP(i);
            record->add(row);
        }
    }

    void decode(Context & context, const llama_token * tokens, size_t count, size_t outputs) {
        if (!context.decode(tokens, count, outputs)) throw CodedError("cancelled", "The evaluation was stopped");
        done += count;
        if (request.progress) request.progress(static_cast<float>(done) / static_cast<float>(total));
    }

    const EvaluateRequest & request;
    const size_t length;
    std::vector<Tally> tallies; // the last one is the reference's
    std::optional<LogProbWriter> record;
    std::optional<LogProbReader> against;
    std::vector<std::vector<float>> rows;
    size_t first = 0; // token of a chunk whose prediction is the first one that counts
    int vocabulary = 0;
    uint32_t batch = 0;
    size_t done = 0, total = 0;
};

size_t chunkLength(const EvaluateRequest & request) {
    size_t cells = request.contexts[0]->effective.nCtx;
    for (const Context * context : request.contexts) cells = std::min<size_t>(cells, context->effective.nCtx);
    if (request.reference) cells = std::min<size_t>(cells, request.reference->effective.nCtx);
    if (request.chunk > cells) {
        throw CodedError("bad-request", "Chunks of " + std::to_string(request.chunk) + " tokens do not fit into " +
                                            std::to_string(cells) + " cells");
    }
    if (request.chunk > request.tokens.size()) {
        throw CodedError("bad-request",
            "The text has " + std::to_string(request.tokens.size()) + " tokens, less than one chunk",
            "Give a longer text.");
    }
    return request.chunk > 0 ? request.chunk : std::min(cells, request.tokens.size());
}

} // namespace

std::vector<Evaluation> evaluate(const EvaluateRequest & request) {
    const size_t length = chunkLength(request);
    if (length < minChunk)
        throw CodedError("bad-request", "There are too few tokens to evaluate", "Give a longer text.");
    request.contexts[0]->model->checkTokens(request.tokens);
    Run run(request, length);
    try {
        std::vector<Evaluation> results = run.all();
        run.clear();
        return results;
    } catch (...) {
        run.clear();
        throw;
    }
}

} // namespace concertina
