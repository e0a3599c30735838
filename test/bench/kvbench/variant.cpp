#include "variant.h"

#include "events.h"
#include "ggml-turbo.h"
#include "llama-turbo.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

std::string field(const std::string & spec, int index) {
    size_t from = 0;
    for (; index > 0; --index) { from = spec.find(':', from) + 1; }
    return spec.substr(from, spec.find(':', from) - from);
}

ggml_type type_of(const std::string & name) {
    const ggml_type turbo = ggml_turbo_type_from_name(name.c_str());
    if (turbo != GGML_TYPE_COUNT) { return turbo; }
    for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
        const char * known = ggml_type_name(ggml_type(i));
        if (known != nullptr && name == known) { return ggml_type(i); }
    }
    give_up("ggml knows no type " + name + ".");
}

// Bytes that can be allocated without swapping; 0 where the system does not say.
int64_t available_memory() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("MemAvailable:", 0) == 0) { return strtoll(line.c_str() + 13, nullptr, 10) * 1024; }
    }
    return 0;
}

int64_t bytes_per_position(const cell_filler & cells) {
    int64_t sum = 0;
    for (const auto * side : { &cells.k, &cells.v }) {
        for (const cell_rows & rows : *side) { sum += int64_t(rows.row_size); }
    }
    return sum;
}

// A cache is twice in memory, as the context's and as that of the attention graph.
void require_memory(int64_t needed) {
    const int64_t free = available_memory();
    if (free > 0 && needed > free) {
        give_up("The contexts need about " + std::to_string(needed >> 20) + " MiB and " + std::to_string(free >> 20) +
                " MiB are free: give fewer --types or smaller --depths.");
    }
}

std::shared_ptr<kv_context> make_context(llama_model * model, ggml_type type_k, ggml_type type_v, int n_ctx,
    int n_batch, int n_threads, std::vector<llama_token> & tokens) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = uint32_t(n_ctx);
    params.n_batch = uint32_t(n_batch);
    params.n_ubatch = uint32_t(n_batch);
    params.n_threads = n_threads;
    params.n_threads_batch = n_threads;
    params.type_k = type_k;
    params.type_v = type_v;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.no_perf = true;

    auto kv = std::make_shared<kv_context>();
    kv->type_k = type_k;
    kv->type_v = type_v;
    kv->ctx.reset(llama_init_from_model(model, params));
    if (!kv->ctx) {
        give_up(std::string("No context with ") + ggml_type_name(type_k) + "/" + ggml_type_name(type_v) +
                " can be made for this model.");
    }
    if (!kv->cells.learn(kv->ctx.get(), tokens)) {
        give_up(std::string("The first tokens could not be decoded with ") + ggml_type_name(type_k) + "/" +
                ggml_type_name(type_v) + ".");
    }
    return kv;
}

void describe(const llama_model * model, const variant & one) {
    const kv_context & kv = *one.kv;
    const llama_turbo_resolution types = llama_turbo_resolve(model, kv.type_k, kv.type_v, true);
    event("variant")
        .add("name", one.name)
        .add("stock", one.stock)
        .add("typeK", ggml_type_name(types.type_k))
        .add("typeV", ggml_type_name(types.type_v))
        .add("reasonK", types.reason_k ? types.reason_k : "")
        .add("reasonV", types.reason_v ? types.reason_v : "")
        .add("plainCache", kv.cells.plain())
        .add("bytesPerPosition", bytes_per_position(kv.cells));
}

} // namespace

void give_up(const std::string & why) {
    fprintf(stderr, "kvbench: %s\n", why.c_str());
    exit(3);
}

void variant::select() const { ggml_turbo_attention_enable(!stock); }

std::vector<variant> make_variants(llama_model * model, const std::vector<std::string> & specs, int n_ctx, int n_batch,
    int n_threads, std::vector<llama_token> tokens) {
    std::vector<variant> variants;
    ggml_turbo_attention_enable(true);
    for (const std::string & spec : specs) {
        const ggml_type type_k = type_of(field(spec, 1));
        const ggml_type type_v = type_of(field(spec, 2));
        variant one = { field(spec, 0), field(spec, 3) == "stock", nullptr };
        for (const variant & earlier : variants) {
            if (earlier.kv->type_k == type_k && earlier.kv->type_v == type_v) { one.kv = earlier.kv; }
        }
        if (!one.kv) {
            if (!variants.empty()) { require_memory(2 * n_ctx * bytes_per_position(variants.front().kv->cells)); }
            one.kv = make_context(model, type_k, type_v, n_ctx, n_batch, n_threads, tokens);
        }
        describe(model, one);
        variants.push_back(std::move(one));
    }
    return variants;
}
