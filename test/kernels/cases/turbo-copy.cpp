// set_rows and copies: the blocks that the CPU quantiser makes, byte for byte, and the values that the CPU decodes, bit for bit.

#include "../../native/check.h"
#include "../../native/samples.h"
#include "dispatch.h"

#include "ggml-turbo.h"
#include "turbo-codec.h"

#include <cstring>

namespace {

struct format {
    ggml_type type;
    turbo_format_id id;
};

const format formats[] = {
    { GGML_TYPE_TURBO4, TURBO_FORMAT_TURBO4 },
    { GGML_TYPE_TURBO3, TURBO_FORMAT_TURBO3 },
    { GGML_TYPE_TURBO4_64, TURBO_FORMAT_TURBO4_64 },
    { GGML_TYPE_TURBO3_64, TURBO_FORMAT_TURBO3_64 },
};

const int ROW = 384; // three groups of 128, six of 64: the last SIMD-group of a threadgroup has nothing to do

// Awkward rows of the CPU's tests, random rows, and a row with a NaN.
std::vector<float> sample_rows(int & n_rows) {
    std::vector<std::vector<float>> rows = awkward_rows(ROW);
    for (unsigned seed = 1; seed <= 8; ++seed) { rows.push_back(gaussian(ROW, 0.02f * (1 << seed), seed)); }
    rows.push_back(gaussian(ROW, 1.0f, 99));
    rows.back()[200] = NAN;
    std::vector<float> all;
    for (const auto & row : rows) all.insert(all.end(), row.begin(), row.end());
    n_rows = (int) rows.size();
    return all;
}

std::vector<uint8_t> cpu_blocks(const format & f, const float * x, size_t n) {
    std::vector<uint8_t> bytes(ggml_row_size(f.type, n));
    turbo_quantize(&turbo_kernels_ref, f.id, x, bytes.data(), n);
    return bytes;
}

std::vector<float> through_half(const std::vector<float> & x, std::vector<ggml_fp16_t> & half) {
    half.resize(x.size());
    ggml_fp32_to_fp16_row(x.data(), half.data(), x.size());
    std::vector<float> back(x.size());
    ggml_fp16_to_fp32_row(half.data(), back.data(), x.size());
    return back;
}

// Blocks of set_rows for rows in reverse order.
std::vector<uint8_t> set_rows(
    const format & f, const std::vector<float> & x, int n_rows, bool half, bool wide, const msl_schedule & schedule) {
    turbo_tensors t;
    ggml_tensor * src = ggml_new_tensor_2d(t.ctx, half ? GGML_TYPE_F16 : GGML_TYPE_F32, ROW, n_rows);
    ggml_tensor * idx = ggml_new_tensor_1d(t.ctx, wide ? GGML_TYPE_I64 : GGML_TYPE_I32, n_rows);
    ggml_tensor * dst = ggml_new_tensor_2d(t.ctx, f.type, ROW, n_rows);
    if (half) {
        std::vector<ggml_fp16_t> h;
        through_half(x, h);
        t.fill(src, "src", h);
    } else {
        t.fill(src, "src", x);
    }
    std::vector<int32_t> rows32;
    std::vector<int64_t> rows64;
    for (int i = n_rows - 1; i >= 0; --i) {
        rows32.push_back(i);
        rows64.push_back(i);
    }
    if (wide)
        t.fill(idx, "idx", rows64);
    else
        t.fill(idx, "idx", rows32);
    msl_buffer & out = t.allocate(dst, "dst");

    ggml_tensor * op = ggml_dup_tensor(t.ctx, dst);
    op->op = GGML_OP_SET_ROWS;
    op->src[0] = src;
    op->src[1] = idx;
    op->data = dst->data;
    CHECK_STR(turbo_metal_refusal(test_device(), op), "");
    CHECK_STR(run_plan(turbo_metal_make_plan(test_device(), op), op, t, schedule).text(), "");

    std::vector<uint8_t> got(out.size());
    const size_t row = ggml_row_size(f.type, ROW);
    for (int i = 0; i < n_rows; ++i) { memcpy(got.data() + i * row, out.data() + (n_rows - 1 - i) * row, row); }
    return got;
}

int different(const std::vector<uint8_t> & a, const std::vector<uint8_t> & b) {
    int n = a.size() != b.size();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) n += a[i] != b[i];
    return n;
}

} // namespace

TEST("set_rows: the CPU quantiser's bytes, from f32 and f16, with both index types") {
    int n_rows = 0;
    const std::vector<float> x = sample_rows(n_rows);
    for (const format & f : formats) {
        CHECK(different(set_rows(f, x, n_rows, false, true, {}), cpu_blocks(f, x.data(), x.size())) == 0);
        std::vector<ggml_fp16_t> half;
        const std::vector<float> rounded = through_half(x, half);
        CHECK(different(set_rows(f, x, n_rows, true, false, {}), cpu_blocks(f, rounded.data(), rounded.size())) == 0);
    }
}

// A compiler that fuses and reorders the few float operations may take another of two scales that are equally good.
TEST("set_rows, any math: an error as small as the CPU's") {
    const int n_rows = 16;
    const std::vector<float> x = gaussian(n_rows * ROW, 1.0f, 21);
    for (const format & f : formats) {
        const std::vector<uint8_t> got = set_rows(f, x, n_rows, false, true, {});
        const std::vector<uint8_t> want = cpu_blocks(f, x.data(), x.size());
        std::vector<float> a(x.size()), b(x.size());
        turbo_kernels_ref.to_float[f.id](got.data(), a.data(), a.size());
        turbo_kernels_ref.to_float[f.id](want.data(), b.data(), b.size());
        CHECK_LE(relative_mse(x, a), 1.0001 * relative_mse(x, b));
    }
}

TEST("set_rows: the same bytes in every order of lanes") {
    const int n_rows = 3;
    const std::vector<float> x = gaussian(n_rows * ROW, 1.0f, 5);
    for (const format & f : formats) {
        for (const msl_schedule & schedule : msl_all_schedules()) {
            CHECK(different(set_rows(f, x, n_rows, false, true, schedule), cpu_blocks(f, x.data(), x.size())) == 0);
        }
    }
}

TEST("set_rows: strided source rows, outer dimensions, shared indices") {
    const int n_rows = 3;
    const int n_outer = 2;
    for (const format & f : formats) {
        turbo_tensors t;
        ggml_tensor * wide = ggml_new_tensor_3d(t.ctx, GGML_TYPE_F32, 2 * ROW, n_rows, n_outer);
        ggml_tensor * src =
            ggml_view_3d(t.ctx, wide, ROW, n_rows, n_outer, wide->nb[1], wide->nb[2], ROW * sizeof(float));
        ggml_tensor * idx = ggml_new_tensor_1d(t.ctx, GGML_TYPE_I64, n_rows);
        ggml_tensor * op = ggml_new_tensor_3d(t.ctx, f.type, ROW, n_rows + 2, n_outer);
        const std::vector<float> x = gaussian(2 * ROW * n_rows * n_outer, 1.0f, 3);
        t.fill(wide, "src", x);
        t.fill(idx, "idx", std::vector<int64_t>{ 4, 0, 2 });
        msl_buffer & out = t.allocate(op, "dst");
        op->op = GGML_OP_SET_ROWS;
        op->src[0] = src;
        op->src[1] = idx;
        CHECK_STR(run_plan(turbo_metal_make_plan(test_device(), op), op, t).text(), "");

        const size_t row = ggml_row_size(f.type, ROW);
        const int to[] = { 4, 0, 2 };
        for (int o = 0; o < n_outer; ++o) {
            for (int r = 0; r < n_rows; ++r) {
                const std::vector<uint8_t> want = cpu_blocks(f, x.data() + ((o * n_rows + r) * 2 + 1) * ROW, ROW);
                CHECK(memcmp(out.data() + (o * (n_rows + 2) + to[r]) * row, want.data(), row) == 0);
            }
            CHECK(out.data()[(o * (n_rows + 2) + 1) * row] == 0xff); // never written
        }
    }
}

// K-shift: a permuted and strided view of the cache to f32 and back.
TEST("copies: the CPU's values out of a strided view, its bytes back in") {
    const int n_rows = 5;
    const int n_head = 2;
    for (const format & f : formats) {
        const int dim = f.type == GGML_TYPE_TURBO4 || f.type == GGML_TYPE_TURBO3 ? 128 : 64;
        const size_t head_bytes = ggml_row_size(f.type, dim);
        const std::vector<float> x = gaussian(dim * n_rows * n_head, 1.0f, 11);
        const std::vector<uint8_t> blocks = cpu_blocks(f, x.data(), x.size());
        for (const ggml_type type : { GGML_TYPE_F32, GGML_TYPE_F16 }) {
            turbo_tensors t;
            ggml_tensor * cache = ggml_new_tensor_3d(t.ctx, f.type, dim, n_head, n_rows);
            ggml_tensor * view = ggml_permute(t.ctx, cache, 0, 2, 1, 3); // [dim][rows][heads]
            ggml_tensor * out = ggml_new_tensor_3d(t.ctx, type, dim, n_rows, n_head);
            t.fill(cache, "cache", blocks);
            msl_buffer & values = t.allocate(out, "out");
            ggml_tensor * op = ggml_cpy(t.ctx, view, out);
            CHECK_STR(turbo_metal_refusal(test_device(), op), "");
            CHECK_STR(run_plan(turbo_metal_make_plan(test_device(), op), op, t).text(), "");

            int wrong = 0;
            for (int r = 0; r < n_rows; ++r) {
                for (int h = 0; h < n_head; ++h) {
                    std::vector<float> want(dim);
                    turbo_kernels_ref.to_float[f.id](blocks.data() + (r * n_head + h) * head_bytes, want.data(), dim);
                    for (int i = 0; i < dim; ++i) {
                        const size_t at = (size_t) (h * n_rows + r) * dim + i;
                        wrong += type == GGML_TYPE_F32 ? values.as<float>()[at] != want[i]
                                                       : values.as<ggml_fp16_t>()[at] != ggml_fp32_to_fp16(want[i]);
                    }
                }
            }
            CHECK(wrong == 0);

            turbo_tensors t2;
            ggml_tensor * from = ggml_new_tensor_3d(t2.ctx, type, dim, n_rows, n_head);
            ggml_tensor * back = ggml_new_tensor_3d(t2.ctx, f.type, dim, n_head, n_rows);
            ggml_tensor * view2 = ggml_permute(t2.ctx, back, 0, 2, 1, 3);
            t2.fill(from, "from", values.to<uint8_t>());
            msl_buffer & bytes = t2.allocate(back, "back");
            ggml_tensor * op2 = ggml_cpy(t2.ctx, from, view2);
            CHECK_STR(turbo_metal_refusal(test_device(), op2), "");
            CHECK_STR(run_plan(turbo_metal_make_plan(test_device(), op2), op2, t2).text(), "");
            std::vector<float> as_float(x.size());
            for (size_t i = 0; i < x.size(); ++i) {
                as_float[i] =
                    type == GGML_TYPE_F32 ? values.as<float>()[i] : ggml_fp16_to_fp32(values.as<ggml_fp16_t>()[i]);
            }
            for (int h = 0; h < n_head; ++h) {
                for (int r = 0; r < n_rows; ++r) {
                    const std::vector<uint8_t> want =
                        cpu_blocks(f, as_float.data() + (size_t) (h * n_rows + r) * dim, dim);
                    CHECK(memcmp(bytes.data() + (r * n_head + h) * head_bytes, want.data(), head_bytes) == 0);
                }
            }
        }
    }
}

TEST("copies: the expansion to f16 reads every byte once and writes every value once") {
    const int n_rows = 4;
    for (const format & f : formats) {
        turbo_tensors t;
        ggml_tensor * src = ggml_new_tensor_2d(t.ctx, f.type, ROW, n_rows);
        ggml_tensor * out = ggml_new_tensor_2d(t.ctx, GGML_TYPE_F16, ROW, n_rows);
        const std::vector<float> x = gaussian(ROW * n_rows);
        t.fill(src, "src", cpu_blocks(f, x.data(), x.size()));
        t.allocate(out, "dst");
        ggml_tensor * op = ggml_cpy(t.ctx, src, out);
        const msl_counters c = run_plan(turbo_metal_make_plan(test_device(), op), op, t).counters;
        // every byte is needed and none is read by two threadgroups
        CHECK(c.buffers.at("src").unique == ggml_nbytes(src));
        CHECK(c.buffers.at("dst").written == ggml_nbytes(out));
    }
}
