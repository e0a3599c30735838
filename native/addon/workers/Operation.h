// An operation as it is sent to ask whether a device can compute it: types and shapes, no data. Both sides have one build.
#pragma once

#include "ggml-cpp.h"

#include <cstdint>
#include <optional>
#include <string>

namespace concertina {

// hexadecimal
std::string operationText(const ggml_tensor * operation);

// The same operation again, its tensors in a context of their own.
struct ReadOperation {
    ggml_context_ptr context;
    ggml_tensor * tensor = nullptr;
};

// none: the text is not of an operation that ggml could look at
std::optional<ReadOperation> readOperation(const std::string & text);

// Calls a function of the process that made it: never for another machine.
bool hasPointers(const ggml_tensor * operation);

} // namespace concertina
