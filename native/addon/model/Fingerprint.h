// Checksums: of a whole file, and a quick one that tells models apart. Against mistakes, not against attackers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace concertina {

// of the first `bytes` of a file; 0 when it cannot be read that far. Throws `cancelled`.
uint64_t fileChecksum(const std::string & path, uint64_t bytes, const std::atomic<bool> & cancel);

// as JavaScript is given it: hexadecimal
std::string checksumText(uint64_t checksum);

// header, size and samples from all over the file
uint64_t fingerprint(const std::string & path);

} // namespace concertina
