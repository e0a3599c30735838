#include "Evaluate.h"

#include "errors.h"

#include <algorithm>
#include <cmath>

namespace concertina {
namespace {

constexpr size_t minChunk = 8;
// llama-perplexity leaves out tokens that the reference holds for less likely than this
constexpr float negligible = -16.0f;

struct Distribution {
    const float * logits;
    int size;
    int top = 0;
    float logSum = 0; // log p(i) = logits[i] - logSum

    Distribution(const float * logits, int size) : logits(logits), size(size) {
        for (int i = 1; i < size; i++) {
            if (logits[i] > logits[top]) top = i;
        }
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

void step(Context & context, const llama_token * tokens, size_t count, size_t outputs) {
    if (!context.decode(tokens, count, outputs)) throw CodedError("cancelled", "The evaluation was stopped");
}

class Run {
public:
    Run(Context & context, Context * reference) : context(context), reference(reference) {
        vocabulary = llama_vocab_n_tokens(context.model->vocab());
    }

    void chunk(std::vector<llama_token> tokens) {
        const std::vector<llama_token> original = tokens;
        const llama_vocab * vocab = context.model->vocab();
        if (llama_vocab_get_add_bos(vocab)) tokens[0] = llama_vocab_bos(vocab);
        const size_t first = tokens.size() / 2;
        clear();
        for (size_t at = 0; at < first;) {
            const size_t count = std::min<size_t>(batch(), first - at);
            decodeBoth(tokens.data() + at, count, 0);
            at += count;
        }
        for (size_t at = first; at < tokens.size();) {
            const size_t count = std::min<size_t>(std::min(batch(), maxOutputs), tokens.size() - at);
            decodeBoth(tokens.data() + at, count, count);
            for (size_t i = 0; i < count && at + i + 1 < tokens.size(); i++) score(static_cast<int>(i), original[at + i + 1]);
            at += count;
        }
    }

    Evaluation result() {
        Evaluation figures;
        figures.tokens = counted;
        figures.perplexity = std::exp(nll / static_cast<double>(counted));
        figures.compared = reference != nullptr;
        if (!reference) return figures;
        std::sort(klds.begin(), klds.end());
        figures.meanKld = kld / static_cast<double>(counted);
        figures.kld999 = percentile(klds, 0.999f);
        figures.sameTop = static_cast<double>(same) / static_cast<double>(counted);
        return figures;
    }

    void clear() {
        context.clear();
        if (reference) reference->clear();
    }

private:
    uint32_t batch() const { return reference ? std::min(context.effective.batch, reference->effective.batch) : context.effective.batch; }

    void decodeBoth(const llama_token * tokens, size_t count, size_t outputs) {
        step(context, tokens, count, outputs);
        if (reference) step(*reference, tokens, count, outputs);
    }

    void score(int output, llama_token next) {
        const Distribution own(llama_get_logits_ith(context.handle, output), vocabulary);
        nll -= own.logP(next);
        counted++;
        if (!reference) return;
        const Distribution base(llama_get_logits_ith(reference->handle, output), vocabulary);
        const double value = divergence(base, own);
        kld += value;
        klds.push_back(static_cast<float>(value));
        same += base.top == own.top;
    }

    Context & context;
    Context * reference;
    int vocabulary = 0;
    double nll = 0, kld = 0;
    size_t counted = 0, same = 0;
    std::vector<float> klds;
};

} // namespace

Evaluation evaluate(Context & context, Context * reference, const std::vector<llama_token> & tokens) {
    size_t chunk = std::min<size_t>(context.effective.nCtx, tokens.size());
    if (reference) chunk = std::min<size_t>(chunk, reference->effective.nCtx);
    if (chunk < minChunk) throw CodedError("bad-request", "There are too few tokens to evaluate", "Give a longer text.");
    const int32_t vocabulary = llama_vocab_n_tokens(context.model->vocab());
    for (const llama_token token : tokens) {
        if (token < 0 || token >= vocabulary) throw CodedError("bad-request", "Token " + std::to_string(token) + " is not in the vocabulary");
    }
    Run run(context, reference);
    try {
        for (size_t at = 0; at + chunk <= tokens.size(); at += chunk) {
            run.chunk({tokens.begin() + static_cast<ptrdiff_t>(at), tokens.begin() + static_cast<ptrdiff_t>(at + chunk)});
        }
    } catch (...) {
        run.clear();
        throw;
    }
    run.clear();
    return run.result();
}

} // namespace concertina
