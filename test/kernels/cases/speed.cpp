// The measurement at the first start on a GPU, with a clock that goes by the pipelines that ran.

#include "../../native/check.h"
#include "../mac/fake-metal.h"
#include "dispatch.h"

#include "encode.h"
#include "turbo-metal-impl.h"

#include "ggml-backend-impl.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace {

// Seconds of a dispatch whose pipeline's name has such a part.
typedef std::map<std::string, double> costs;

const std::string Q4 = "_dk128_dv128_q4_", Q8 = "_dk128_dv128_q8_";
std::string table(int of) { return "_3000=" + std::to_string(of) + "_"; }

class gpu {
public:
    gpu() {
        char name[] = "/tmp/turbo-speed-XXXXXX";
        folder = mkdtemp(name);
        path = folder + "/metal-speed.txt";
    }
    ~gpu() {
        remove(path.c_str());
        rmdir(folder.c_str());
        fake_metal_refuse("");
    }
    turbo_metal_speeds measure(const costs & of, const std::string & key = "M2, build 1") {
        runs = 0;
        const auto device = (ggml_metal_device_t) ggml_backend_get_device(fake_metal_backend())->context;
        turbo_metal_stopwatch watch = { 64, 1, 1, [&] {
                                           ++runs;
                                           for (const fake_dispatch & d : fake_metal_log()) time += cost(of, d);
                                           return time;
                                       } };
        return turbo_metal_measure(device, path, key, watch);
    }
    std::string text() const {
        std::ifstream in(path);
        return { std::istreambuf_iterator<char>(in), {} };
    }

    std::string folder, path;
    int runs = 0;

private:
    static double cost(const costs & of, const fake_dispatch & d) {
        double seconds = 0.0;
        for (const auto & [part, one] : of) seconds += d.pipeline.find(part) != std::string::npos ? one : 0.0;
        return seconds;
    }
    double time = 0.0;
};

} // namespace

TEST("speed: the fastest table and number of queries are taken and kept, for one GPU and build") {
    gpu g;
    const turbo_metal_speeds first = g.measure({ { table(TURBO_METAL_TABLE_SIGNED), 3.0 },
        { table(TURBO_METAL_TABLE_MAGNITUDE), 2.0 }, { table(TURBO_METAL_TABLE_SHUFFLE), 1.0 }, { Q8, 1.0 } });
    CHECK(g.runs > 0);
    for (const bool turbo4 : { false, true }) {
        CHECK(first.at(turbo4).table == TURBO_METAL_TABLE_SHUFFLE && first.at(turbo4).queries == 4);
        CHECK_STR(first.at(turbo4).why, "measured on this GPU at 8K: all levels 3.00, magnitudes 2.00, magnitudes by "
                                        "shuffle 1.00; 4 queries at once 1.00, 8 2.00");
    }
    const costs others = { { table(TURBO_METAL_TABLE_SHUFFLE), 3.0 }, { table(TURBO_METAL_TABLE_SIGNED), 2.0 },
        { table(TURBO_METAL_TABLE_MAGNITUDE), 1.0 }, { Q4, 1.0 } };
    const turbo_metal_speeds kept = g.measure(others);
    CHECK(g.runs == 0 && kept.at(true).table == TURBO_METAL_TABLE_SHUFFLE && kept.at(true).why == first.at(true).why);
    const turbo_metal_speeds again = g.measure(others, "M2, build 2");
    CHECK(g.runs > 0 && again.at(true).table == TURBO_METAL_TABLE_MAGNITUDE && again.at(false).queries == 8);
    CHECK(g.text().find("build 1") == std::string::npos);
}

TEST("speed: a measurement that ended an engine is not tried again") {
    gpu g;
    std::ofstream(g.path) << "concertina metal speed 1: M2, build 1\nmeasuring\n";
    CHECK(g.measure({ { Q4, 1.0 } }).empty() && g.runs == 0);
    CHECK(!g.measure({ { Q4, 1.0 } }, "M2, build 2").empty());
}

TEST("speed: a kernel that does not compile is not the fastest") {
    gpu g;
    fake_metal_refuse("kernel_turbo_attention_dk128_dv128_q8");
    const turbo_metal_speeds speeds = g.measure({ { Q4, 1.0 } });
    CHECK(speeds.at(true).queries == 4);
    CHECK(speeds.at(true).why.find("4 queries at once 1.00, 8 not run") != std::string::npos);
    fake_metal_refuse("kernel_turbo_attention_dk128_dv128_q4");
    CHECK(g.measure({}, "M2, build 2").empty());
}
