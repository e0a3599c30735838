// What llama.cpp's log says about an allocation that failed.
#pragma once

#include "errors.h"

#include <optional>
#include <string>

namespace concertina {

// `out-of-memory` that names the part and its size; none when the log is about something else. `hint`: what to do
std::optional<CodedError> failedAllocation(const std::string & log, const std::string & hint);

} // namespace concertina
