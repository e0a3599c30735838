// The bytes of the formats and their place in ggml's type table.

#include "check.h"
#include "ggml-turbo.h"
#include "samples.h"

#include "ggml.h"

#include <cstddef>
#include <cstring>

TEST("type table: names, group sizes, bytes") {
    const struct { ggml_type type; const char * name; int64_t group; size_t bytes; } rows[] = {
        { GGML_TYPE_TURBO4,    "turbo4",    128, 68 },
        { GGML_TYPE_TURBO3,    "turbo3",    128, 52 },
        { GGML_TYPE_TURBO4_64, "turbo4_64",  64, 36 },
        { GGML_TYPE_TURBO3_64, "turbo3_64",  64, 28 },
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
    CHECK(GGML_TYPE_TURBO4    == 36);
    CHECK(GGML_TYPE_TURBO3    == 37);
    CHECK(GGML_TYPE_TURBO4_64 == 38);
    CHECK(GGML_TYPE_TURBO3_64 == 33);
}

TEST("saving against f16: turbo4 3.7x, turbo3 4.9x at least") {
    CHECK_LE(3.7, 256.0/ggml_type_size(GGML_TYPE_TURBO4));
    CHECK_LE(4.9, 256.0/ggml_type_size(GGML_TYPE_TURBO3));
}

// Blocks written by hand from the text of turbo-layout.h, not by the packer.
TEST("unpacking follows the layout's text") {
    uint16_t d;
    uint8_t  sub[TURBO_SUBSCALES];
    int8_t   level[TURBO_GROUP];

    block_turbo4 b4 = {};
    b4.d   = 0x3c00;
    b4.sub = 0x4321;
    b4.qs[0]  = 0x7 | 0x8 << 4; // value 0: +111, value 64: -5
    b4.qs[63] = 0x0 | 0x1 << 4; // value 63: +5, value 127: +16
    turbo_unpack(TURBO_FORMAT_4, &b4, &d, sub, level);
    CHECK(d == 0x3c00);
    CHECK(sub[0] == 1 && sub[1] == 2 && sub[2] == 3 && sub[3] == 4);
    CHECK(level[0] == 111 && level[64] == -5 && level[63] == 5 && level[127] == 16);

    block_turbo3 b3 = {};
    b3.qs[1]   = 0 | 1 << 2 | 2 << 4 | 3 << 6; // values 1, 33, 65, 97
    b3.sign[8] = 1 << 1;                       // value 65
    turbo_unpack(TURBO_FORMAT_3, &b3, &d, sub, level);
    CHECK(level[1] == 12 && level[33] == 37 && level[65] == -67 && level[97] == 111);

    block_turbo4_64 b4h = {};
    b4h.qs[31] = 0xf | 0x6 << 4; // value 31: -111, value 63: +85
    turbo_unpack(TURBO_FORMAT_4_64, &b4h, &d, sub, level);
    CHECK(level[31] == -111 && level[63] == 85);

    block_turbo3_64 b3h = {};
    b3h.qs[15]  = 3 << 2; // value 31
    b3h.sign[3] = 0x80;   // value 31
    turbo_unpack(TURBO_FORMAT_3_64, &b3h, &d, sub, level);
    CHECK(level[31] == -111 && level[15] == 12);
}
