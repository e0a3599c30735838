// Bytes of weights that one decoded token must read.
#pragma once

#include <cstdint>
#include <string>

// Sum over the tensors of a GGUF file: all but the token embedding (of which a token reads one row) unless that is also
// the output matrix; of experts the share that a token uses. 0 when the file cannot be read. Files in several parts:
// only the first is counted.
int64_t weight_bytes_per_token(const std::string & path);
