// KV cache and its tokens in a file: llama.cpp's own sequence file, and behind it what it belongs to and a checksum.
#pragma once

#include "context/Context.h"

#include <cstdint>
#include <string>

namespace concertina {

// Everything that must agree for cells to mean the same, one "name value" a line; types, RoPE and the build among it.
std::string sessionLabel(const Context & context);

// Both end with `cancelled` soon after the context's job is cancelled; a restore that upstream has begun ends first, and
// leaves the context empty.

// bytes written; the file appears whole or not at all
uint64_t saveSession(Context & context, const std::string & path);

// Tokens restored. Throws `data-corrupt` for a damaged file or one of another model, cache type or build; the context is
// then empty or, when the file was refused before it was read, as it was.
uint64_t loadSession(Context & context, const std::string & path);

} // namespace concertina
