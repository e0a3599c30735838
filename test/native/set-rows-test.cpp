// SET_ROWS into the turbo types: the groups of a row are dealt out to the threads.

#include "check.h"
#include "samples.h"

#include "ggml-cpu/ggml-cpu-impl.h"
#include "ggml.h"
#include "turbo-hooks.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>

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

TEST("set_rows: rows are stored once more where the operation asks for it, from any type of cache") {
    for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3_64, GGML_TYPE_Q8_0, GGML_TYPE_F16 }) {
        for (const int nth : { 1, 2, 3, 7 }) {
            const int64_t width = 5 * 128, n_row = 6, before = 64; // values of the other side
            std::unique_ptr<ggml_context, decltype(&ggml_free)> ctx{ ggml_init({ 1 << 20, nullptr, false }),
                ggml_free };
            const auto cache_of = [&](ggml_type of, int64_t ne0) {
                ggml_tensor * made = ggml_new_tensor_2d(ctx.get(), of, ne0, n_row);
                memset(made->data, 0, ggml_nbytes(made));
                return made;
            };
            const auto rows_of = [&](std::vector<int64_t> rows) {
                ggml_tensor * made = ggml_new_tensor_1d(ctx.get(), GGML_TYPE_I64, rows.size());
                memcpy(made->data, rows.data(), ggml_nbytes(made));
                return made;
            };
            ggml_tensor * cache = cache_of(type, width);
            ggml_tensor * recent = cache_of(GGML_TYPE_Q8_0, before + width);
            ggml_tensor * x = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, width, 3);
            const std::vector<float> values = gaussian(ggml_nelements(x));
            memcpy(x->data, values.data(), ggml_nbytes(x));
            ggml_tensor * op = ggml_set_rows(ctx.get(), cache, x, rows_of({ 4, 1, 0 }));
            op->src[TURBO_SRC_RECENT_ROWS] =
                ggml_view_2d(ctx.get(), recent, width, n_row, recent->nb[1], ggml_row_size(GGML_TYPE_Q8_0, before));
            op->src[TURBO_SRC_RECENT_PLACES] = rows_of({ 0, 5, -1 });
            for (int ith = 0; ith < nth; ++ith) {
                ggml_compute_params params = {};
                params.ith = ith;
                params.nth = nth;
                CHECK(turbo_set_rows(&params, op));
            }
            const auto holds = [&](const ggml_tensor * of, int64_t row, int64_t first, int64_t i, double error) {
                std::vector<float> got(of->ne[0]);
                ggml_get_type_traits(of->type)->to_float(
                    (const char *) of->data + row * of->nb[1], got.data(), of->ne[0]);
                for (int64_t d = 0; d < first; ++d) { CHECK(got[d] == 0.0f); }
                const std::vector<float> want(values.begin() + i * width, values.begin() + (i + 1) * width);
                CHECK_LE(relative_mse(want, { got.begin() + first, got.end() }), error);
            };
            for (const auto [i, row, place] : { std::tuple(0, 4, 0), { 1, 1, 5 } }) {
                holds(cache, row, 0, i, 0.03);
                holds(recent, place, before, i, 0.0001);
            }
            for (const int64_t other : { 1, 2, 3, 4 }) {
                const char * row = (const char *) recent->data + other * recent->nb[1];
                CHECK(std::all_of(row, row + recent->nb[1], [](char byte) { return byte == 0; }));
            }
        }
    }
}

TEST("set_rows: other types are upstream's") {
    set_rows s(GGML_TYPE_Q8_0, { 2 });
    const std::vector<uint8_t> before = s.bytes();
    CHECK(!s.run(0, 1));
    CHECK(s.bytes() == before);
}
