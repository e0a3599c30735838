// Code address -> "file.metal:line", by binutils' addr2line from the line tables of the module.
#pragma once

#include <string>

namespace msl {
// The innermost inlined frame that is not in the shim; "?" for code without lines.
std::string source_line(const void * return_address);
}
