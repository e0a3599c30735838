// Enough of the Metal Shading Language for clang 19 on x86-64; force-included before a rewritten .metal source.
//   CHECK mode  -x clcpp   address spaces are real (device = __global, constant = const __constant, threadgroup = __local,
//                          thread = __private); declarations only, nothing is linked
//   EXEC mode   -x c++     address spaces are erased; collectives and barriers call the executor (msl-abi.h)
// What is not here does not compile: an unknown function must be an error, not a guess.
#pragma once

#include "msl-base.h"
#include "msl-vector.h"
#include "msl-matrix.h"
#include "msl-math.h"
#include "msl-math-int.h"
#ifdef MSL_CHECK
#include "msl-simd-check.h"
#else
#include "msl-simd-exec.h"
#include "msl-registry.h"
#endif
#include "msl-keywords.h"
