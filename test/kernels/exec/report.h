// Collects what the executor finds wrong; equal findings (kind and sites) are counted.
#pragma once

#include "msl-exec.h"

#include <string>
#include <vector>

namespace msl {

void report(const std::string & kind, const std::string & detail, const std::vector<const void *> & sites);

// The findings since the last call, with sites as file:line.
std::vector<msl_report> take_reports();

} // namespace msl
