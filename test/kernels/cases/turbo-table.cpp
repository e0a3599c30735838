// Rows of docs/metal.md: what the dispatch table chooses. docs.mjs puts them in place.

#include "../../native/check.h"
#include "turbo-plan.h"

#include "turbo-metal-impl.h"

#include <cstdio>

namespace {

const int PLENTY = 1 << 20; // of scratch memory: more splits than the table asks for

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
