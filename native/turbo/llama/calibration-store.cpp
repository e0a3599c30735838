// Bytes of a calibration, and the table of models that have one.

#include "calibration-store.h"

#include "llama-hparams.h"
#include "llama-model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

namespace {

constexpr char magic[8] = { 'T', 'U', 'R', 'B', 'O', 'C', 'A', 'L' };
constexpr uint32_t version = 4; // also to be raised when the constants are derived from the statistics in another way
constexpr uint32_t max_layers = 4096;
constexpr uint32_t max_width = 1 << 20; // values of a token in one layer

struct header {
    char magic[8];
    uint32_t version;
    uint32_t n_layers;
    uint64_t hash; // of the rest
};

std::mutex mutex;

std::map<const llama_model *, turbo_attached> & models() {
    static std::map<const llama_model *, turbo_attached> table;
    return table;
}

// FNV-1a, 64 bits: tells texts and models apart and finds damage; no protection against attackers
uint64_t hash_bytes(const uint8_t * data, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; ++i) { hash = (hash ^ data[i]) * 0x100000001b3u; }
    return hash ? hash : 1;
}

template <typename Stats, typename F> void for_each_array(Stats & layer, F && visit) {
    const size_t n_k = size_t(layer.n_head_kv) * layer.head_k;
    const size_t n_v = size_t(layer.n_head_kv) * layer.head_v;
    for (auto * means : { &layer.k, &layer.k_block }) {
        visit(means->mean, n_k);
        visit(means->var, n_k);
    }
    visit(layer.q_sq, n_k);
    visit(layer.v.mean, n_v);
    visit(layer.v.var, n_v);
}

std::vector<uint8_t> body_of(const llama_turbo_calibration & calibration) {
    std::vector<uint8_t> body;
    const auto append = [&](const void * data, size_t size) {
        const auto * bytes = static_cast<const uint8_t *>(data);
        body.insert(body.end(), bytes, bytes + size);
    };
    append(&calibration.n_tokens, sizeof(calibration.n_tokens));
    append(&calibration.block, sizeof(calibration.block));
    for (const auto & layer : calibration.layers) {
        const uint32_t shape[] = { layer.il, layer.n_head_kv, layer.head_k, layer.head_v, layer.n_pair };
        append(shape, sizeof(shape));
        for_each_array(
            layer, [&](const std::vector<float> & values, size_t n) { append(values.data(), n * sizeof(float)); });
    }
    return body;
}

class reader {
public:
    reader(const void * data, size_t size) : data(static_cast<const uint8_t *>(data)), left(size) {}

    bool read(void * dst, size_t size) {
        if (size > left) { return false; }
        memcpy(dst, data, size);
        data += size;
        left -= size;
        return true;
    }

    bool read(turbo_layer_stats & layer) {
        uint32_t shape[5];
        if (!read(shape, sizeof(shape)) || shape[1] > max_width || shape[2] > max_width || shape[3] > max_width ||
            uint64_t(shape[1]) * shape[2] > max_width || uint64_t(shape[1]) * shape[3] > max_width ||
            2 * uint64_t(shape[4]) > shape[2]) {
            return false;
        }
        layer.il = shape[0];
        layer.n_head_kv = shape[1];
        layer.head_k = shape[2];
        layer.head_v = shape[3];
        layer.n_pair = shape[4];
        bool ok = true;
        for_each_array(layer, [&](std::vector<float> & values, size_t n) {
            values.resize(n);
            ok = ok && read(values.data(), n * sizeof(float));
        });
        return ok;
    }

    bool done() const { return left == 0; }

private:
    const uint8_t * data;
    size_t left;
};

} // namespace

const turbo_layer_stats * llama_turbo_calibration::find(uint32_t il) const {
    for (const auto & layer : layers) {
        if (layer.il == il) { return &layer; }
    }
    return nullptr;
}

bool llama_turbo_calibration::finite() const {
    bool res = true;
    for (const auto & layer : layers) {
        for_each_array(layer, [&](const std::vector<float> & values, size_t) {
            res = res && std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
        });
    }
    return res;
}

void llama_turbo_calibration::seal() {
    const std::vector<uint8_t> body = body_of(*this);
    hash = hash_bytes(body.data(), body.size());
}

void llama_turbo_calibration_free(llama_turbo_calibration * calibration) { delete calibration; }

size_t llama_turbo_calibration_get_size(const llama_turbo_calibration * calibration) {
    return sizeof(header) + body_of(*calibration).size();
}

void llama_turbo_calibration_get_data(const llama_turbo_calibration * calibration, void * dst) {
    header head = {};
    memcpy(head.magic, magic, sizeof(magic));
    head.version = version;
    head.n_layers = uint32_t(calibration->layers.size());
    head.hash = calibration->hash;
    const std::vector<uint8_t> body = body_of(*calibration);
    memcpy(dst, &head, sizeof(head));
    memcpy(static_cast<uint8_t *>(dst) + sizeof(head), body.data(), body.size());
}

llama_turbo_calibration * llama_turbo_calibration_init_from_data(const void * src, size_t size) {
    header head;
    reader from(src, size);
    if (!from.read(&head, sizeof(head)) || memcmp(head.magic, magic, sizeof(magic)) != 0 || head.version != version ||
        head.n_layers > max_layers ||
        hash_bytes(static_cast<const uint8_t *>(src) + sizeof(head), size - sizeof(head)) != head.hash) {
        return nullptr;
    }
    auto calibration = std::make_unique<llama_turbo_calibration>();
    calibration->hash = head.hash;
    if (!from.read(&calibration->n_tokens, sizeof(calibration->n_tokens)) ||
        !from.read(&calibration->block, sizeof(calibration->block)) || !turbo_is_block(calibration->block)) {
        return nullptr;
    }
    calibration->layers.resize(head.n_layers);
    for (auto & layer : calibration->layers) {
        if (!from.read(layer)) { return nullptr; }
    }
    return from.done() && calibration->finite() ? calibration.release() : nullptr;
}

uint64_t llama_turbo_calibration_hash(const llama_turbo_calibration * calibration) { return calibration->hash; }

int32_t llama_turbo_calibration_block(const llama_turbo_calibration * calibration) {
    return int32_t(calibration->block);
}

int32_t llama_turbo_calibration_n_tokens(const llama_turbo_calibration * calibration) {
    return int32_t(calibration->n_tokens);
}

static bool fits(const llama_hparams & hparams, const turbo_layer_stats & layer) {
    return layer.il < hparams.n_layer_all && hparams.has_kv(layer.il) &&
           layer.n_head_kv == hparams.n_head_kv(layer.il) && layer.head_k == hparams.n_embd_head_k(layer.il) &&
           layer.head_v == hparams.n_embd_head_v(layer.il) &&
           (layer.n_pair == 0 || 2 * layer.n_pair == hparams.n_rot(layer.il));
}

bool llama_turbo_calibration_attach(llama_model * model, const llama_turbo_calibration * calibration) {
    if (calibration == nullptr) {
        const std::lock_guard<std::mutex> lock(mutex);
        models().erase(model);
        return true;
    }
    if (!calibration->finite()) { return false; }
    for (const auto & layer : calibration->layers) {
        if (!fits(model->hparams, layer)) { return false; }
    }
    auto copy = std::make_shared<const llama_turbo_calibration>(*calibration);
    const std::lock_guard<std::mutex> lock(mutex);
    models()[model].calibration = std::move(copy);
    return true;
}

turbo_attached turbo_attached_to(const llama_model * model) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = models().find(model);
    return found == models().end() ? turbo_attached() : found->second;
}

turbo_listening::turbo_listening(const llama_model * model, turbo_cache_listener * listener) : model(model) {
    const std::lock_guard<std::mutex> lock(mutex);
    models()[model].listener = listener;
}

turbo_listening::~turbo_listening() {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = models().find(model);
    if (found == models().end()) { return; }
    found->second.listener = nullptr;
    if (!found->second.calibration) { models().erase(found); }
}
