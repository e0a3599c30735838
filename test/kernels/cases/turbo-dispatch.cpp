// The dispatch table against the measured rows of turboquant_plus, the override, its rows of docs/metal.md (run.mjs
// puts them in place), what Metal refuses, and what the app's status says of the kernels.

#include "../../native/check.h"
#include "dispatch.h"

#include "ggml-turbo.h"
#include "turbo-metal-impl.h"

#include <cstdio>
#include <stdexcept>

namespace {

const int PLENTY = 1 << 20; // of scratch memory: more splits than the table asks for

turbo_metal_shape shape_of(int64_t n_kv, int dim = 128, int gqa = 4, int n_rows = 1, int n_groups = 8) {
    return { n_kv, dim, dim, gqa, n_rows, n_groups, false };
}

int table(int family, int64_t n_kv, bool turbo4 = false) {
    turbo_metal_shape shape = shape_of(n_kv);
    shape.has_turbo4 = turbo4;
    return turbo_metal_choose_with(test_device(family), shape, PLENTY, "").table;
}

std::string thrown(const std::string & text) {
    try {
        turbo_metal_choose_with(test_device(), shape_of(4096), PLENTY, text);
    } catch (const std::invalid_argument & error) { return error.what(); }
    return "";
}

ggml_tensor * attention(turbo_tensors & t, ggml_type k, ggml_type v, int dim_k, int dim_v, int n_rows = 1) {
    const int n_kv = 64;
    return ggml_flash_attn_ext(t.ctx, ggml_new_tensor_3d(t.ctx, GGML_TYPE_F32, dim_k, n_rows, 4),
        ggml_new_tensor_3d(t.ctx, k, dim_k, n_kv, 2), ggml_new_tensor_3d(t.ctx, v, dim_v, n_kv, 2),
        ggml_new_tensor_2d(t.ctx, GGML_TYPE_F16, n_kv, n_rows), 0.1f, 0.0f, 0.0f);
}

bool says(const ggml_tensor * op, const char * part, turbo_metal_device device = test_device()) {
    return turbo_metal_refusal(device, op).find(part) != std::string::npos;
}

} // namespace

TEST("dispatch: turbo3 before M5 four magnitudes at every depth") {
    for (const int family : { 7, 8, 9 }) {
        for (const int64_t n_kv : { 1, 2048, 8192, 16384, 20480, 32768, 131072 }) {
            CHECK(table(family, n_kv) == TURBO_METAL_TABLE_MAGNITUDE);
        }
    }
}

TEST("dispatch: turbo3 on M5 takes all entries below 8K, four magnitudes to 20K, all entries above; unknown families "
     "do as M5") {
    for (const int family : { 10, 11, 20, 0 }) {
        for (const int64_t n_kv : { 1, 2048, 8191 }) CHECK(table(family, n_kv) == TURBO_METAL_TABLE_SIGNED);
        for (const int64_t n_kv : { 8192, 16384, 20479 }) CHECK(table(family, n_kv) == TURBO_METAL_TABLE_MAGNITUDE);
        for (const int64_t n_kv : { 20480, 32768, 131072 }) CHECK(table(family, n_kv) == TURBO_METAL_TABLE_SIGNED);
    }
}

TEST("dispatch: turbo4 never takes 16 entries, which nobody measured") {
    for (const int family : { 7, 8, 9, 10, 11, 0 }) {
        for (const int64_t n_kv : { 1, 2048, 8192, 20480, 131072 })
            CHECK(table(family, n_kv, true) == TURBO_METAL_TABLE_MAGNITUDE);
    }
}

TEST("dispatch: what was measured on the GPU comes before the rows, and a fault before what was measured") {
    const turbo_metal_speeds speeds = { { true, { TURBO_METAL_TABLE_SHUFFLE, 4, "measured: turbo4" } },
        { false, { TURBO_METAL_TABLE_SIGNED, 8, "measured: turbo3" } } };
    turbo_metal_device device = test_device(7);
    device.speeds = &speeds;
    const auto chosen = [&](bool turbo4, int dim = 128) {
        turbo_metal_shape shape = shape_of(8192, dim, 8);
        shape.has_turbo4 = turbo4;
        return turbo_metal_choose_with(device, shape, PLENTY, "");
    };
    CHECK(chosen(true).table == TURBO_METAL_TABLE_SHUFFLE && chosen(true).queries == 4);
    CHECK_STR(chosen(true).source, "measured: turbo4");
    CHECK(chosen(false).table == TURBO_METAL_TABLE_SIGNED && chosen(false).queries == 8);
    // other head sizes keep their number of queries
    CHECK(chosen(true, 64).table == TURBO_METAL_TABLE_SHUFFLE && chosen(true, 64).queries == 8);
    CHECK_STR(turbo_metal_kernel_text(chosen(true)), "shuffled table, 4 queries per SIMD-group");

    const turbo_metal_faults faults = { { "kernel_turbo_attention_dk128_dv128_q4 shuffled", "squared error 1" } };
    device.faults = &faults;
    CHECK(chosen(true).table == TURBO_METAL_TABLE_MAGNITUDE && chosen(true).queries == 4);
    CHECK(std::string(chosen(true).source).find("self-test") == 0);
}

TEST("dispatch: every row says where it is from") {
    for (const int64_t n_kv : { 2048, 16384, 32768 }) {
        CHECK(std::string(turbo_metal_choose_with(test_device(10), shape_of(n_kv), PLENTY, "").source)
                  .find("turboquant_plus") == 0);
        CHECK(std::string(turbo_metal_choose_with(test_device(7), shape_of(n_kv), PLENTY, "").source)
                  .find("turboquant_plus") == 0);
    }
}

// One expansion for all heads of a group wherever their sums fit into registers.
TEST("dispatch: one SIMD-group for all queries of a KV head, as far as there are kernels") {
    for (const int dim : { 64, 128, 256 }) {
        for (int gqa = 1; gqa <= 16; ++gqa) {
            for (const int n_rows : { 1, 2, 4 }) {
                const turbo_metal_variant v =
                    turbo_metal_choose_with(test_device(), shape_of(4096, dim, gqa, n_rows), PLENTY, "");
                const int most = dim == 256 ? 4 : 8;
                CHECK(turbo_metal_has_kernel(dim, dim, v.queries));
                CHECK(v.queries >= std::min(gqa * n_rows, most) && v.queries <= most);
                CHECK(v.queries / 2 < gqa * n_rows);
            }
        }
    }
}

TEST("dispatch: the fewer KV heads, the more splits, so that the cores of a large chip have work") {
    const auto splits = [](int64_t n_kv, int gqa, int n_rows, int n_groups) {
        return turbo_metal_choose_with(test_device(), shape_of(n_kv, 128, gqa, n_rows, n_groups), PLENTY, "").splits;
    };
    // 24 SIMD-groups for each of 80 cores, where the positions are enough
    CHECK(splits(32768, 4, 1, 8) == 240);
    CHECK(splits(32768, 4, 1, 32) == 64); // 60 would do: no more than 512 positions in one
    CHECK(splits(16384, 4, 1, 32) == 60);
    CHECK(splits(8192, 4, 1, 8) == 128); // no fewer than 64 positions in one
    CHECK(splits(8192, 8, 1, 2) == 128);
    CHECK(splits(131072, 8, 1, 2) == TURBO_METAL_MAX_SPLITS);
    CHECK(splits(32768, 8, 4, 8) == 64); // four walks over the positions of a KV head
}

TEST("dispatch: splits are a multiple of the SIMD-groups, no more than tiles and scratch memory") {
    for (const int64_t n_kv : { 1, 31, 33, 64, 100, 2048, 8192, 32768, 131072, 1 << 20 }) {
        for (const int most : { 1, 2, 3, 7, 32, PLENTY }) {
            for (const int gqa : { 1, 5, 16 }) {
                const turbo_metal_variant v =
                    turbo_metal_choose_with(test_device(), shape_of(n_kv, 128, gqa), most, "");
                CHECK(v.splits >= 1 && v.simdgroups >= 1 && v.splits % v.simdgroups == 0);
                CHECK(v.splits <= std::min<int64_t>({ most, (n_kv + 31) / 32, TURBO_METAL_MAX_SPLITS }));
            }
        }
    }
}

TEST("dispatch: the override, and what it does not understand") {
    const turbo_metal_variant v = turbo_metal_choose_with(
        test_device(7), shape_of(8192), PLENTY, "table=signed,queries=2,splits=8,simdgroups=2,skip=0");
    CHECK(v.table == TURBO_METAL_TABLE_SIGNED && v.queries == 2 && v.splits == 8 && v.simdgroups == 2 && !v.skip_v);
    CHECK_STR(v.source, "CONCERTINA_METAL_VARIANT");
    CHECK_STR(turbo_metal_describe(v), "signed table, 2 queries per SIMD-group, 8 splits");
    CHECK(turbo_metal_choose_with(test_device(), shape_of(8192), PLENTY, "table=shuffle").table ==
          TURBO_METAL_TABLE_SHUFFLE);
    // a model may have shapes without such a kernel
    CHECK(turbo_metal_choose_with(test_device(7), shape_of(8192, 256), PLENTY, "queries=16").queries == 4);
    CHECK(thrown("table=red").find("is none of") != std::string::npos);
    CHECK(thrown("splits=many").find("must be a number") != std::string::npos);
    CHECK(thrown("splits").find("must be a number") != std::string::npos);
    for (const char * none : { "queries=0", "splits=0", "queries=17" }) { // 0 queries would be a grid of nothing
        CHECK(thrown(none).find("must be a number from 1 to") != std::string::npos);
    }
    CHECK_STR(thrown(""), "");
}

TEST("refusals: every pair that has kernels is taken, for few rows and for many") {
    for (const int dim : { 128, 256 }) {
        for (const ggml_type k : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_Q8_0, GGML_TYPE_F16 }) {
            for (const ggml_type v : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 }) {
                turbo_tensors t;
                CHECK_STR(turbo_metal_refusal(test_device(), attention(t, k, v, dim, dim)), "");
                CHECK_STR(turbo_metal_refusal(test_device(), attention(t, v, k, dim, dim, 64)), "");
            }
        }
    }
    turbo_tensors t;
    CHECK_STR(turbo_metal_refusal(test_device(), attention(t, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64, 64, 64)), "");
    CHECK_STR(turbo_metal_refusal(test_device(), attention(t, GGML_TYPE_Q8_0, GGML_TYPE_TURBO4, 192, 128)), "");
    CHECK_STR(turbo_metal_refusal(test_device(), attention(t, GGML_TYPE_Q8_0, GGML_TYPE_TURBO4_64, 96, 64)), "");
}

TEST("refusals: attention without a kernel, each with what to choose instead") {
    turbo_tensors t;
    CHECK(says(attention(t, GGML_TYPE_TURBO4, GGML_TYPE_Q4_0, 128, 128),
        "K turbo4 with V q4_0 at head_dim 128/128: choose q8_0 or f16"));
    CHECK(says(attention(t, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, 512, 512), "head_dim 512/512: choose q8_0 for both"));
    CHECK(says(attention(t, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, 256, 128), "head_dim 256/128: choose q8_0 for both"));
    CHECK(says(attention(t, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO4_64, 128, 128),
        "choose q8_0 for both")); // two groups of 64 a head
    ggml_tensor * masked = attention(t, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, 128, 128);
    masked->src[3]->type = GGML_TYPE_F32;
    CHECK(says(masked, "an f16 mask"));
    turbo_metal_device old = test_device(6);
    old.has_matrices = false;
    CHECK(says(attention(t, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, 128, 128), "none of Apple7", old));
    CHECK(says(ggml_cpy(t.ctx, ggml_new_tensor_1d(t.ctx, GGML_TYPE_F32, 128),
                   ggml_new_tensor_1d(t.ctx, GGML_TYPE_TURBO4, 128)),
        "none of Apple7", old));

    ggml_tensor * transposed = attention(t, GGML_TYPE_TURBO4, GGML_TYPE_F16, 128, 128);
    transposed->src[2] = ggml_transpose(t.ctx, ggml_new_tensor_3d(t.ctx, GGML_TYPE_F16, 64, 128, 2));
    CHECK(says(transposed, "make them contiguous"));
    ggml_tensor * shifted = attention(t, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, 128, 128);
    shifted->src[0]->nb[2] += 4;
    CHECK(says(shifted, "multiples of 16 bytes"));
    turbo_metal_device broken = test_device();
    broken.has_kernels = false;
    CHECK(says(attention(t, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, 128, 128), "did not compile", broken));

    ggml_tensor * latent = attention(t, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, 128, 128);
    latent->src[2] = ggml_view_3d(t.ctx, latent->src[1], 128, 64, 2, latent->src[1]->nb[1], latent->src[1]->nb[2], 0);
    CHECK(says(latent, "latent attention"));
}

TEST("refusals: operations that upstream would give to the CPU say so") {
    turbo_tensors t;
    ggml_tensor * k = ggml_new_tensor_2d(t.ctx, GGML_TYPE_TURBO4, 128, 64);
    CHECK(says(ggml_mul_mat(t.ctx, k, ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 128, 4)), "turn flash attention on"));
    CHECK(
        says(ggml_get_rows(t.ctx, k, ggml_new_tensor_1d(t.ctx, GGML_TYPE_I32, 4)), "Metal has no GET_ROWS for turbo4"));
    CHECK(says(ggml_cpy(t.ctx, k, ggml_new_tensor_2d(t.ctx, GGML_TYPE_TURBO3, 128, 64)), "copy in two steps"));
    CHECK(says(ggml_cpy(t.ctx, k, ggml_new_tensor_2d(t.ctx, GGML_TYPE_Q8_0, 128, 64)), "not to q8_0"));
    CHECK(says(ggml_cpy(t.ctx, ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 64, 128), k), "whole groups of 128"));
    CHECK_STR(turbo_metal_refusal(test_device(), ggml_reshape_1d(t.ctx, k, 128 * 64)), "");
    CHECK(!turbo_metal_involves(ggml_new_tensor_1d(t.ctx, GGML_TYPE_F16, 128)));
}

namespace {

struct chip {
    int family;
    const char * name;
};
const chip chips[] = { { 7, "Apple7 (M1)" }, { 8, "Apple8 (M2)" }, { 9, "Apple9 (M3, M4)" }, { 10, "Apple10 (M5)" },
    { 0, "later, unknown" } };

turbo_metal_variant choose(int family, int64_t n_kv, int dim, int gqa) {
    return turbo_metal_choose_with(test_device(family), { n_kv, dim, dim, gqa, 1, 8, false }, PLENTY, "");
}

} // namespace

TEST("dispatch: rows for docs/metal.md") {
    for (const chip & c : chips) {
        printf("row chips | %s |", c.name);
        for (const int64_t n_kv : { 2048, 8192, 16384, 32768, 131072 }) {
            const turbo_metal_variant v = choose(c.family, n_kv, 128, 4);
            CHECK(v.table == choose(c.family, n_kv, 256, 8).table); // one column for all shapes
            printf(" %s, %d splits |", v.table == TURBO_METAL_TABLE_SIGNED ? "8 levels" : "4 magnitudes", v.splits);
        }
        printf("\n");
    }
    for (const int dim : { 64, 128, 256 }) {
        for (const int gqa : { 1, 2, 3, 4, 5, 6, 7, 8, 12, 16 }) {
            const turbo_metal_variant v = choose(8, 8192, dim, gqa);
            const int expansions = (gqa + v.queries - 1) / v.queries;
            printf("row shapes | %d | %d | %d | %d | %d | %d |\n", dim, gqa, v.queries, v.simdgroups, expansions,
                TURBO_METAL_SHARED_BYTES(dim, v.queries) + v.simdgroups * TURBO_METAL_GROUP_BYTES(dim, v.queries));
            CHECK(expansions == (gqa + v.queries - 1) / v.queries && (expansions == 1 || gqa > (dim == 256 ? 4 : 8)));
        }
    }
}

namespace {

// Which kernel from which depth on, and why.
std::string text(const std::vector<turbo_metal_use> & uses) {
    std::string all;
    for (const turbo_metal_use & u : uses) {
        all += std::to_string(u.from) + ": " + u.name + " (" + u.why.substr(0, u.why.find(',')) + ")\n";
    }
    return all;
}

} // namespace

TEST("status: one kernel for all depths before M5, three depths on M5, an unknown family as M5") {
    CHECK_STR(text(turbo_metal_uses(test_device(8), 128, 128, 8, 131072, "")),
        "0: magnitude table, 8 queries per SIMD-group (Apple8: turboquant_plus)\n");
    const std::string three = "0: signed table, 4 queries per SIMD-group (FAMILY: turboquant_plus)\n"
                              "8192: magnitude table, 4 queries per SIMD-group (FAMILY: turboquant_plus)\n"
                              "20480: signed table, 4 queries per SIMD-group (FAMILY: turboquant_plus)\n";
    const auto of = [&](const char * family) {
        std::string t = three;
        for (size_t at; (at = t.find("FAMILY")) != std::string::npos;) t.replace(at, 6, family);
        return t;
    };
    CHECK_STR(text(turbo_metal_uses(test_device(10), 128, 128, 4, 131072, "")), of("Apple10"));
    CHECK_STR(text(turbo_metal_uses(test_device(0), 128, 128, 4, 131072, "")), of("unknown chip family"));
    // no further than the context
    CHECK(turbo_metal_uses(test_device(10), 128, 128, 4, 8192, "").size() == 1);
}

TEST("status: says what the environment and the self-test chose, and nothing where there is no kernel") {
    CHECK_STR(text(turbo_metal_uses(test_device(8), 128, 128, 8, 4096, "table=signed")),
        "0: signed table, 8 queries per SIMD-group (Apple8: CONCERTINA_METAL_VARIANT)\n");
    const turbo_metal_faults faults = { { "kernel_turbo_attention_dk128_dv128_q8 magnitude", "squared error 1" } };
    turbo_metal_device device = test_device(8);
    device.faults = &faults;
    const std::vector<turbo_metal_use> uses = turbo_metal_uses(device, 128, 128, 8, 4096, "");
    CHECK(uses.size() == 1);
    CHECK_STR(uses[0].why, "Apple8: self-test: the first choice gives wrong values on this GPU");
    CHECK(turbo_metal_uses(device, 80, 80, 8, 4096, "").empty());
}
