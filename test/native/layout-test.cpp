// The bytes of the formats and their place in ggml's type table.

#include "check.h"
#include "ggml-turbo.h"
#include "samples.h"

#include "ggml.h"

#include <cstddef>
#include <cstring>

TEST("type table: names, group sizes, bytes") {
    const struct {
        ggml_type type;
        const char * name;
        int64_t group;
        size_t bytes;
    } rows[] = {
        { GGML_TYPE_TURBO4, "turbo4", 128, 68 },
        { GGML_TYPE_TURBO3, "turbo3", 128, 52 },
        { GGML_TYPE_TURBO4_64, "turbo4_64", 64, 36 },
        { GGML_TYPE_TURBO3_64, "turbo3_64", 64, 28 },
    };
    for (const auto & row : rows) {
        CHECK_STR(ggml_type_name(row.type), row.name);
        CHECK(ggml_blck_size(row.type) == row.group);
        CHECK(ggml_type_size(row.type) == row.bytes);
        CHECK(ggml_is_quantized(row.type));
        CHECK(ggml_turbo_is_turbo(row.type));
    }
    CHECK(ggml_turbo_type_from_name("turbo4") == GGML_TYPE_TURBO4);
    CHECK(ggml_turbo_type_from_name("turbo3") == GGML_TYPE_TURBO3);
    CHECK(ggml_turbo_type_from_name("turbo4_64") == GGML_TYPE_COUNT);
    CHECK(!ggml_turbo_is_turbo(GGML_TYPE_Q8_0));
    CHECK(ggml_type_size(GGML_TYPE_Q8_0) == sizeof(turbo_block_q8));
}

TEST("ids are those in every saved session") {
    CHECK(GGML_TYPE_TURBO4 == 36);
    CHECK(GGML_TYPE_TURBO3 == 37);
    CHECK(GGML_TYPE_TURBO4_64 == 38);
    CHECK(GGML_TYPE_TURBO3_64 == 33);
}

TEST("saving against f16: turbo4 3.7x, turbo3 4.9x at least") {
    CHECK_LE(3.7, 256.0 / ggml_type_size(GGML_TYPE_TURBO4));
    CHECK_LE(4.9, 256.0 / ggml_type_size(GGML_TYPE_TURBO3));
}

// Blocks written by hand from the text of turbo-layout.h, not by the packer.
TEST("unpacking follows the layout's text") {
    uint16_t d;
    uint8_t sub[TURBO_SUBSCALES];
    int8_t level[TURBO_GROUP];

    block_turbo4 b4 = {};
    b4.d = 0x3c00;
    b4.sub = 0x4321;
    b4.qs[0] = 0x7 | 0x8 << 4; // value 0: +111, value 64: -5
    b4.qs[63] = 0x0 | 0x1 << 4; // value 63: +5, value 127: +16
    turbo_unpack(TURBO_FORMAT_4, &b4, &d, sub, level);
    CHECK(d == 0x3c00);
    CHECK(sub[0] == 1 && sub[1] == 2 && sub[2] == 3 && sub[3] == 4);
    CHECK(level[0] == 111 && level[64] == -5 && level[63] == 5 && level[127] == 16);

    // half 0: words at 0, 8 and 32; half 1: at 16, 24 and 40
    block_turbo3 b3 = {};
    b3.qs[1] = 0 | 5 << 4; // values 1 and 9
    b3.qs[26] = 2 | 7 << 4; // word 1 of half 1: values 32 + 16 + 2 and 32 + 16 + 10
    b3.qs[39] = 3 | 4 << 4; // word 2 of half 0: values 64 + 7 and 64 + 15
    b3.qs[19] = 0x88;       // bit 0 of values 96 + 16 + 3 and 96 + 16 + 11
    b3.qs[27] = 0x80;       // bit 1 of the second
    b3.qs[43] = 0x08;       // bit 2 of the first
    turbo_unpack(TURBO_FORMAT_3, &b3, &d, sub, level);
    CHECK(level[1] == 12 && level[9] == -37);
    CHECK(level[50] == 67 && level[58] == -111);
    CHECK(level[71] == 111 && level[79] == -12);
    CHECK(level[115] == -37 && level[123] == 111);

    block_turbo4_64 b4h = {};
    b4h.qs[31] = 0xf | 0x6 << 4; // value 31: -111, value 63: +85
    turbo_unpack(TURBO_FORMAT_4_64, &b4h, &d, sub, level);
    CHECK(level[31] == -111 && level[63] == 85);

    // half 0: words at 0, 4 and 16; half 1: at 8, 12 and 20
    block_turbo3_64 b3h = {};
    b3h.qs[15] = 1 | 7 << 4; // word 1 of half 1: values 16 + 8 + 3 and 16 + 12 + 3
    b3h.qs[16] = 6 | 2 << 4; // word 2 of half 0: values 32 and 32 + 4
    b3h.qs[2] = 0x80;       // bit 0 of value 32 + 12 + 2
    b3h.qs[18] = 0x88;       // bit 2 of values 32 + 8 + 2 and 32 + 12 + 2
    turbo_unpack(TURBO_FORMAT_3_64, &b3h, &d, sub, level);
    CHECK(level[27] == 37 && level[31] == -111);
    CHECK(level[32] == -67 && level[36] == 67);
    CHECK(level[42] == -12 && level[46] == -37);
}
