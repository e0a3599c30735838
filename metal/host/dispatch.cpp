#include "dispatch.h"

#include "turbo-metal-impl.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace {

const int ANY = 1 << 20;
const int64_t DEEP = INT64_MAX;

// The table of levels. First row that fits: family up to, positions below, with or without turbo4 on a side.
// turboquant_plus: https://github.com/TheTom/turboquant_plus, docs/decode-speed-hardware-analysis.md; its words in quotes.
struct table_row {
    int family;
    int64_t n_kv;
    bool turbo4;
    int table;
    const char * source;
};

const table_row tables[] = {
    // 16 entries were measured nowhere; 8 magnitudes are as many as turbo3's 8 entries, which are fast on M5
    { ANY, DEEP, true, TURBO_METAL_TABLE_MAGNITUDE,
        "not measured: turbo4 has 16 entries or 8 magnitudes; turboquant_plus measured 8 entries and 4 magnitudes" },
    { 9, DEEP, false, TURBO_METAL_TABLE_MAGNITUDE,
        "turboquant_plus, M2 Pro at 8K: 4 magnitudes +38%; \"Pre-M5: always 4-mag\"" },
    { ANY, 8192, false, TURBO_METAL_TABLE_SIGNED,
        "turboquant_plus, M5 Max short: 8 entries 76.7, 4 magnitudes 76.2; \"M5+ below 8K: 8-LUT\"" },
    { ANY, 20480, false, TURBO_METAL_TABLE_MAGNITUDE,
        "turboquant_plus, M5 Max at 16K: 4 magnitudes +2.4%; \"8K-20K: 4-mag\"" },
    { ANY, DEEP, false, TURBO_METAL_TABLE_SIGNED,
        "turboquant_plus, M5 Max at 32K: 4 magnitudes -7.3%; \"above 20K: 8-LUT\"" },
};

// For a GPU that was not measured. The last row fits all.
const table_row & table_of(const turbo_metal_device & device, const turbo_metal_shape & s) {
    const int family = device.family > 0 ? device.family : ANY; // an unknown family is a new one
    const auto fits = [&](const table_row & row) {
        return family <= row.family && s.n_kv < row.n_kv && (s.has_turbo4 || !row.turbo4);
    };
    return *std::find_if(std::begin(tables), std::end(tables) - 1, fits);
}

// Queries per SIMD-group: of those that have a kernel, the least that takes all queries of a KV head, so that its rows are expanded
// once; at most so many. Nothing here was measured. Besides 4*queries*dim_v/128 sums of V a lane keeps queries scores and about 45 other
// values, and Apple7 to Apple9 have 128 registers: 8 queries at head_dim 128 need about 85, 16 would need some 125. MLX found that 8 spill
// there in a kernel of such a kind: a measurement on the GPU may say 4 (mac/speed.cpp). The larger kernels are there for the override.
struct queries_row {
    int dim_v;
    int most;
};

const queries_row queries[] = {
    { 64, 8 },
    { 128, 8 },
    { 256, 4 },
};

// Splits: so many that the operation has 24 SIMD-groups for each core, which is what keeps the ALUs of one busy (measured on M1 and M2:
// philipturner/metal-benchmarks). Metal does not tell how many cores there are: 80, as in the largest chips; a smaller one has more
// than it wants, which costs it their sums. A split has 64 positions at least, so that it costs more than its sum written and read
// again (2*4*dim_v*gqa bytes against 0.5*2*dim per position), and 512 at most. Of the kernels here nothing was measured.
const int64_t WANTED_SIMDGROUPS = 24 * 80;
const int64_t MIN_POSITIONS = 64;
const int64_t MAX_POSITIONS = 512;

const int TURBO_METAL_MAX_QUERIES = 16;

const char * const table_names[TURBO_METAL_TABLES] = { "signed", "magnitude", "shuffled" };

// Rows of the tables begin at multiples of this.
const int64_t USES_STEP = 1024;

const int kernels[][3] = {
    { 64, 64, 1 },
    { 64, 64, 2 },
    { 64, 64, 4 },
    { 64, 64, 8 },
    { 64, 64, 16 },
    { 96, 64, 4 },
    { 96, 64, 8 },
    { 128, 128, 1 },
    { 128, 128, 2 },
    { 128, 128, 4 },
    { 128, 128, 8 },
    { 128, 128, 16 },
    { 192, 128, 4 },
    { 192, 128, 8 },
    { 256, 256, 1 },
    { 256, 256, 2 },
    { 256, 256, 4 },
    { 256, 256, 8 },
};

// speed: nullptr where the GPU was not measured
int choose_queries(const turbo_metal_shape & s, const turbo_metal_speed * speed) {
    int most = 0;
    for (const queries_row & row : queries) {
        if (row.dim_v == s.dim_v) { most = row.most; }
    }
    if (speed && s.dim_k == 128 && s.dim_v == 128) { most = speed->queries; }
    const int wanted = std::min(s.gqa * s.n_rows, most);
    int best = 0;
    for (const auto & k : kernels) {
        if (k[0] == s.dim_k && k[1] == s.dim_v && best < wanted && k[2] <= most) { best = k[2]; }
    }
    return best;
}

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

int choose_splits(const turbo_metal_shape & s, int queries) {
    const int64_t walks = s.n_groups * divided((int64_t) s.gqa * s.n_rows, std::max(1, queries)); // over all positions
    const int64_t wanted = divided(WANTED_SIMDGROUPS, std::max<int64_t>(1, walks));
    const int64_t least = divided(s.n_kv, MAX_POSITIONS);
    const int64_t most = divided(s.n_kv, MIN_POSITIONS);
    return (int) std::min<int64_t>(TURBO_METAL_MAX_SPLITS, std::min(most, std::max(least, wanted)));
}

bool is_sound(const turbo_metal_device & device, int dim_k, int dim_v, const turbo_metal_variant & v) {
    return device.faults == nullptr || device.faults->count(turbo_metal_fault_name(dim_k, dim_v, v)) == 0;
}

const turbo_metal_speed * speed_of(const turbo_metal_device & device, const turbo_metal_shape & shape) {
    if (!device.speeds) { return nullptr; }
    const auto found = device.speeds->find(shape.has_turbo4);
    return found == device.speeds->end() ? nullptr : &found->second;
}

// Sound variants in the order in which they are taken: the wanted one, its other tables, then kernels for fewer queries, then for more.
std::vector<turbo_metal_variant> sound_variants(
    const turbo_metal_device & device, int dim_k, int dim_v, const turbo_metal_variant & wanted) {
    std::vector<turbo_metal_variant> found;
    for (const auto & k : kernels) {
        for (int table = 0; table < TURBO_METAL_TABLES; ++table) {
            turbo_metal_variant v = wanted;
            v.queries = k[2];
            v.table = table;
            if (k[0] == dim_k && k[1] == dim_v && is_sound(device, dim_k, dim_v, v)) { found.push_back(v); }
        }
    }
    const auto rank = [&](const turbo_metal_variant & v) {
        const int queries =
            v.queries <= wanted.queries ? wanted.queries - v.queries : TURBO_METAL_MAX_QUERIES + v.queries;
        const int table = v.table == wanted.table ? 0 : v.table == TURBO_METAL_TABLE_MAGNITUDE ? 1 : 2 + v.table;
        return 8 * queries + table;
    };
    std::sort(found.begin(), found.end(),
        [&](const turbo_metal_variant & a, const turbo_metal_variant & b) { return rank(a) < rank(b); });
    return found;
}

// queries: 0 when no kernel is sound
void pass_over_faults(const turbo_metal_device & device, const turbo_metal_shape & s, turbo_metal_variant & v) {
    if (is_sound(device, s.dim_k, s.dim_v, v)) { return; }
    const std::vector<turbo_metal_variant> others = sound_variants(device, s.dim_k, s.dim_v, v);
    v.queries = 0;
    if (!others.empty()) { v = others.front(); }
    v.source = "self-test: the first choice gives wrong values on this GPU";
}

size_t shared_bytes(const turbo_metal_shape & s, const turbo_metal_variant & v) {
    return TURBO_METAL_SHARED_BYTES(s.dim_k, v.queries) + v.simdgroups * TURBO_METAL_GROUP_BYTES(s.dim_v, v.queries);
}

// splits: what fits, a multiple of the SIMD-groups; simdgroups: what fits into threadgroup memory
void fit(const turbo_metal_device & device, const turbo_metal_shape & s, int max_splits, turbo_metal_variant & v) {
    const int64_t tiles = divided(s.n_kv, TURBO_METAL_POSITIONS);
    const int most = (int) std::min<int64_t>({ tiles, max_splits, TURBO_METAL_MAX_SPLITS });
    v.splits = std::max(1, std::min(v.splits, most));
    while (v.simdgroups > 1 && (v.simdgroups > v.splits || shared_bytes(s, v) > device.threadgroup_memory)) {
        v.simdgroups /= 2;
    }
    v.splits = v.splits / v.simdgroups * v.simdgroups;
}

int number(const std::string & key, const std::string & value, int least, int most) {
    char * end = nullptr;
    const long n = std::strtol(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || n < least || n > most) {
        throw std::invalid_argument("CONCERTINA_METAL_VARIANT: " + key + " must be a number from " +
                                    std::to_string(least) + " to " + std::to_string(most) + ", not \"" + value + "\"");
    }
    return (int) n;
}

void apply(const turbo_metal_shape & s, const std::string & key, const std::string & value, turbo_metal_variant & v) {
    if (key == "table" && value == "signed") {
        v.table = TURBO_METAL_TABLE_SIGNED;
    } else if (key == "table" && value == "magnitude") {
        v.table = TURBO_METAL_TABLE_MAGNITUDE;
    } else if (key == "table" && value == "shuffle") {
        v.table = TURBO_METAL_TABLE_SHUFFLE;
    } else if (key == "queries") {
        const int n = number(key, value, 1, 16);
        if (turbo_metal_has_kernel(s.dim_k, s.dim_v, n)) { // other shapes of the model may have one
            v.queries = n;
        }
    } else if (key == "splits") {
        v.splits = number(key, value, 1, TURBO_METAL_MAX_SPLITS);
    } else if (key == "simdgroups" && (value == "1" || value == "2" || value == "4")) {
        v.simdgroups = number(key, value, 1, 4);
    } else if (key == "skip") {
        v.skip_v = number(key, value, 0, 1) == 1;
    } else {
        throw std::invalid_argument("CONCERTINA_METAL_VARIANT: \"" + key + "=" + value +
                                    "\" is none of table=signed|magnitude|shuffle, "
                                    "queries=1|2|4|8|16, splits=N, simdgroups=1|2|4, skip=0|1");
    }
}

} // namespace

std::string turbo_metal_fault_name(int dim_k, int dim_v, const turbo_metal_variant & v) {
    return "kernel_turbo_attention_dk" + std::to_string(dim_k) + "_dv" + std::to_string(dim_v) + "_q" +
           std::to_string(v.queries) + " " + table_names[v.table];
}

std::vector<std::pair<int, int>> turbo_metal_dims() {
    std::vector<std::pair<int, int>> dims;
    for (const auto & k : kernels) {
        const std::pair<int, int> d = { k[0], k[1] };
        if (dims.empty() || dims.back() != d) { dims.push_back(d); }
    }
    return dims;
}

bool turbo_metal_has_sound_kernel(const turbo_metal_device & device, int dim_k, int dim_v) {
    return !sound_variants(device, dim_k, dim_v, {}).empty();
}

bool turbo_metal_has_kernel(int dim_k, int dim_v, int n) {
    for (const auto & k : kernels) {
        if (k[0] == dim_k && k[1] == dim_v && (n == 0 || k[2] == n)) { return true; }
    }
    return false;
}

turbo_metal_variant turbo_metal_choose_with(const turbo_metal_device & device, const turbo_metal_shape & shape,
    int max_splits, const std::string & override_text) {
    turbo_metal_variant v = {};
    const turbo_metal_speed * speed = speed_of(device, shape);
    if (speed) {
        v.table = speed->table;
        v.source = speed->why.c_str();
    } else {
        const table_row & row = table_of(device, shape);
        v.table = row.table;
        v.source = row.source;
    }
    v.queries = choose_queries(shape, speed);
    pass_over_faults(device, shape, v);
    v.simdgroups = 4;
    v.skip_v = true;
    v.splits = choose_splits(shape, v.queries);

    std::istringstream parts(override_text);
    for (std::string part; std::getline(parts, part, ',');) {
        const size_t equals = part.find('=');
        apply(shape, part.substr(0, equals), equals == std::string::npos ? "" : part.substr(equals + 1), v);
        v.source = "CONCERTINA_METAL_VARIANT";
    }
    fit(device, shape, max_splits, v);
    return v;
}

const turbo_metal_override & turbo_metal_environment() {
    static const turbo_metal_override read = [] {
        const char * text = std::getenv("CONCERTINA_METAL_VARIANT");
        turbo_metal_override o = { text != nullptr ? text : "", "" };
        try {
            turbo_metal_choose_with({}, { 1, 128, 128, 1, 1, 1, false }, 1, o.text);
        } catch (const std::invalid_argument & error) { o = { "", error.what() }; }
        return o;
    }();
    return read;
}

turbo_metal_variant turbo_metal_choose(
    const turbo_metal_device & device, const turbo_metal_shape & shape, int max_splits) {
    return turbo_metal_choose_with(device, shape, max_splits, turbo_metal_environment().text);
}

std::string turbo_metal_kernel_text(const turbo_metal_variant & v) {
    return std::string(table_names[v.table]) + " table, " + std::to_string(v.queries) + " queries per SIMD-group";
}

std::string turbo_metal_describe(const turbo_metal_variant & v) {
    return turbo_metal_kernel_text(v) + ", " + std::to_string(v.splits) + " splits";
}

std::vector<turbo_metal_use> turbo_metal_uses(const turbo_metal_device & device, int dim_k, int dim_v, int gqa,
    int64_t n_ctx, const std::string & override_text, bool has_turbo4) {
    std::vector<turbo_metal_use> uses;
    if (!turbo_metal_has_sound_kernel(device, dim_k, dim_v)) { return uses; }
    const std::string family = device.family > 0 ? "Apple" + std::to_string(device.family) : "unknown chip family";
    for (int64_t from = 0; from < n_ctx; from += USES_STEP) {
        const turbo_metal_shape shape = { std::max<int64_t>(1, from), dim_k, dim_v, gqa, 1, 1, has_turbo4 };
        const turbo_metal_variant v = turbo_metal_choose_with(device, shape, TURBO_METAL_MAX_SPLITS, override_text);
        const std::string name = turbo_metal_kernel_text(v);
        if (uses.empty() || uses.back().name != name) { uses.push_back({ from, name, family + ": " + v.source }); }
    }
    return uses;
}
