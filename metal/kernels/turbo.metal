// Our library of kernels: what the app compiles at start.
#include "attention.metal"
#include "copy.metal"
