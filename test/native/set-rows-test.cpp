// SET_ROWS into the turbo types: the groups of a row are dealt out to the threads.

#include "check.h"
#include "samples.h"

#include "ggml-cpu/ggml-cpu-impl.h"
#include "ggml.h"
#include "turbo-hooks.h"

#include <cstring>
#include <memory>

namespace {

// Rows into a cache of two slices, both addressed by the one list of rows, as ggml broadcasts it.
struct set_rows {
    static const int64_t WIDTH = 5 * 128, CELLS = 9, SLICES = 2;

    std::unique_ptr<ggml_context, decltype(&ggml_free)> ctx{ ggml_init({ 1 << 20, nullptr, false }), ggml_free };
    ggml_tensor * cache;
    ggml_tensor * x;
    ggml_tensor * op;

    set_rows(ggml_type type, const std::vector<int64_t> & to) {
        cache = ggml_new_tensor_3d(ctx.get(), type, WIDTH, CELLS, SLICES);
        x = ggml_new_tensor_3d(ctx.get(), GGML_TYPE_F32, WIDTH, to.size(), SLICES);
        ggml_tensor * rows = ggml_new_tensor_1d(ctx.get(), GGML_TYPE_I64, to.size());
        const std::vector<float> values = gaussian(ggml_nelements(x));
        memcpy(x->data, values.data(), ggml_nbytes(x));
        memcpy(rows->data, to.data(), ggml_nbytes(rows));
        memset(cache->data, 0xa5, ggml_nbytes(cache));
        op = ggml_set_rows(ctx.get(), cache, x, rows);
    }

    bool run(int ith, int nth) {
        ggml_compute_params params = {};
        params.ith = ith;
        params.nth = nth;
        return turbo_set_rows(&params, op);
    }

    std::vector<uint8_t> bytes() const {
        const uint8_t * data = (const uint8_t *) cache->data;
        return std::vector<uint8_t>(data, data + ggml_nbytes(cache));
    }
};

std::vector<uint8_t> expected(int id, const std::vector<int64_t> & to) {
    set_rows s(TURBO_TYPES[id], to);
    std::vector<uint8_t> out = s.bytes();
    const size_t row = ggml_row_size(TURBO_TYPES[id], s.WIDTH);
    for (int64_t slice = 0; slice < s.SLICES; ++slice) {
        for (size_t i = 0; i < to.size(); ++i) {
            const float * x = (const float *) s.x->data + (slice * to.size() + i) * s.WIDTH;
            turbo_quantize(
                &turbo_kernels_ref, turbo_format_id(id), x, out.data() + (slice * s.CELLS + to[i]) * row, s.WIDTH);
        }
    }
    return out;
}

} // namespace

TEST("set_rows: any number of threads stores the reference's bytes and nothing else") {
    const std::vector<std::vector<int64_t>> lists = { { 4 }, { 8, 0, 3 }, { 5, 6, 7, 1, 2 } };
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        for (const std::vector<int64_t> & to : lists) {
            const std::vector<uint8_t> want = expected(id, to);
            for (int nth : { 1, 2, 3, 7, 64 }) {
                set_rows s(TURBO_TYPES[id], to);
                for (int ith = nth - 1; ith >= 0; --ith) { CHECK(s.run(ith, nth)); }
                CHECK(s.bytes() == want);
            }
        }
    }
}

TEST("set_rows: threads share the groups of a single row") {
    for (int id = 0; id < TURBO_FORMAT_COUNT; ++id) {
        for (int ith = 0; ith < 2; ++ith) {
            set_rows s(TURBO_TYPES[id], { 2 });
            const std::vector<uint8_t> before = s.bytes();
            s.run(ith, 2);
            const std::vector<uint8_t> after = s.bytes();
            size_t changed = 0;
            for (size_t i = 0; i < after.size(); ++i) { changed += after[i] != before[i]; }
            CHECK(changed > 0);
            CHECK(changed <= s.SLICES * ggml_row_size(TURBO_TYPES[id], s.WIDTH) / 2);
        }
    }
}

TEST("set_rows: other types are upstream's") {
    set_rows s(GGML_TYPE_Q8_0, { 2 });
    const std::vector<uint8_t> before = s.bytes();
    CHECK(!s.run(0, 1));
    CHECK(s.bytes() == before);
}
