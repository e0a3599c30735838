#include "model/Fingerprint.h"

#include "errors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace concertina {
namespace {

constexpr size_t blockBytes = size_t(1) << 20;
constexpr int samples = 32;
constexpr size_t sampleBytes = size_t(1) << 14;

struct Checksum {
    uint64_t state = 0x9E3779B97F4A7C15u;

    void add(const void * data, size_t bytes) {
        const auto * at = static_cast<const unsigned char *>(data);
        for (; bytes > 0; at += 8) {
            uint64_t word = 0;
            const size_t step = std::min<size_t>(bytes, sizeof word);
            std::memcpy(&word, at, step);
            state = (state ^ word) * 0xFF51AFD7ED558CCDu;
            state ^= state >> 32;
            bytes -= step;
        }
    }
};

} // namespace

uint64_t fileChecksum(const std::string & path, uint64_t bytes, const std::atomic<bool> & cancel) {
    std::ifstream file(std::filesystem::u8path(path), std::ios::binary);
    std::vector<char> block(blockBytes);
    Checksum sum;
    while (bytes > 0) {
        const auto step = static_cast<std::streamsize>(std::min<uint64_t>(bytes, block.size()));
        if (cancel) throw CodedError("cancelled", "The checksum was stopped");
        if (!file.read(block.data(), step)) return 0;
        sum.add(block.data(), static_cast<size_t>(step));
        bytes -= static_cast<uint64_t>(step);
    }
    return sum.state;
}

std::string checksumText(uint64_t checksum) {
    std::ostringstream text;
    text << std::hex << checksum;
    return text.str();
}

uint64_t fingerprint(const std::string & path) {
    const auto name = std::filesystem::u8path(path);
    const uint64_t size = std::filesystem::file_size(name);
    std::ifstream file(name, std::ios::binary);
    std::vector<char> block(blockBytes);
    Checksum sum;
    sum.add(&size, sizeof size);
    const auto addAt = [&](uint64_t offset, size_t bytes) {
        file.clear();
        file.seekg(static_cast<std::streamoff>(offset));
        file.read(block.data(), static_cast<std::streamsize>(bytes));
        sum.add(block.data(), static_cast<size_t>(file.gcount()));
    };
    addAt(0, blockBytes);
    for (int i = 1; i <= samples; i++) addAt(size / (samples + 1) * i, sampleBytes);
    return sum.state;
}

} // namespace concertina
