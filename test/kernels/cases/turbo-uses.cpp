// What the app's status says of the kernels: which from which depth on, and why.

#include "../../native/check.h"
#include "turbo-plan.h"

#include "uses.h"

namespace {

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
