#include "context/ContextOptions.h"

#include "errors.h"

#include "arg.h"

#include <algorithm>

namespace concertina {
namespace {

struct Option {
    common_arg arg;
    bool positive; // not its --no-form
};

Option find(const std::vector<common_arg> & options, std::string name) {
    if (name.rfind("--", 0) == 0) std::replace(name.begin(), name.end(), '_', '-');
    const auto isNamed = [&](const char * other) { return name == other; };
    for (const common_arg & option : options) {
        if (std::any_of(option.args.begin(), option.args.end(), isNamed)) return { option, true };
        if (std::any_of(option.args_neg.begin(), option.args_neg.end(), isNamed)) return { option, false };
    }
    throw CodedError("bad-request", "llama-server has no option " + name, "See llama.cpp's tools/server/README.md.");
}

// Upstream's own parser (common_params_parse) also reads the environment and a configuration file, and ends the process
// over a value that it cannot use. Options that print something and end it were refused where they came in
// (electron/server/options.ts).
void apply(common_params & params, const std::vector<common_arg> & options, const std::vector<std::string> & words) {
    size_t at = 0;
    const auto value = [&](const std::string & name) {
        if (at == words.size()) throw CodedError("bad-request", name + " needs a value");
        return words[at++];
    };
    while (at < words.size()) {
        const std::string name = words[at++];
        const auto [option, positive] = find(options, name);
        try {
            if (option.handler_void) option.handler_void(params);
            if (option.handler_bool) option.handler_bool(params, positive);
            if (option.handler_int) option.handler_int(params, std::stoi(value(name)));
            if (option.handler_string) option.handler_string(params, value(name));
            if (option.handler_str_str) {
                const std::string first = value(name);
                option.handler_str_str(params, first, value(name));
            }
        } catch (const CodedError &) { throw; } catch (const std::exception & error) {
            throw CodedError("bad-request", name + ": " + error.what());
        }
    }
}

} // namespace

common_params coreParams(const ContextOptions & options) {
    common_params params;
    const common_params_context known = common_params_parser_init(params, LLAMA_EXAMPLE_SERVER, nullptr);
    params.n_batch = params.n_ubatch = std::max(1, options.batch);
    params.n_parallel = std::max(1, options.slots);
    params.kv_unified = true;
    params.ctx_shift = false; // what leaves a chat is chosen by message, not by token
    params.cache_ram_mib =
        static_cast<int>(options.promptCache / (1 << 20)); // else our session files keep what leaves the slot
    // Of sliding windows and recurrent states; estimates count them. A turn makes up to three: where its question begins, and
    // a little before its end. Upstream's usual distance would drop the first of them.
    params.n_ctx_checkpoints = 6;
    params.checkpoint_min_step = 64;
    params.endpoint_slots = params.endpoint_metrics = true;
    apply(params, known.options, options.core);
    params.warmup = false;
    params.fit_params = false;
    if (params.mmproj.path.empty() && options.projector != "auto") params.mmproj.path = options.projector;
    if (params.no_mmproj) params.mmproj.path.clear();
    for (const AdapterOption & one : options.adapters)
        params.lora_adapters.push_back({ one.model, static_cast<float>(one.scale), "", "", nullptr });
    if (!options.api) params.chat_template = "chatml"; // prompts come in as tokens: the model's own is not even read
    if (params.default_template_kwargs.count("preserve_reasoning") == 0)
        params.default_template_kwargs["preserve_reasoning"] = "true"; // as llama-server has it
    return params;
}

} // namespace concertina
