// Tables of the trellis types: printed by `node test/native/trellis/train.mjs`, and since then a part of the format.
// own: of the code of a value, before: of the code before it, by e%4 (turbo-layout.h).
#pragma once

#include <stdint.h>

// error of a Gaussian: 0.00478 of its energy
static const int8_t turbo4_tcq_own[1][16] = {
    { -10, 12, 47, 55, 67, -3, 5, -27, 21, 37, -18, 29, -48, -36, -75, 94 },
};
static const int8_t turbo4_tcq_before[1][16] = {
    { -8, -1, -23, 30, -8, 20, -31, 6, -15, -39, -46, 10, -16, -26, -3, 6 },
};
#define TURBO4_TCQ_D_OF_RMS 1.0787f // 2^13 / (187.5 * 40.50 levels of a sigma)

// error of a Gaussian: 0.02041 of its energy
static const int8_t turbo3_tcq_own[4][16] = {
    { -33, -55, -15, -83, 17, 1, 70, 49, 30, -25, -10, -43, 31, -4, 8, -61 },
    { 2, -56, 61, 29, 37, 13, -7, -25, -18, -35, 16, 5, 48, -39, -9, 18 },
    { -16, -21, -8, -29, -73, -51, -34, 15, 11, -50, -11, 32, -36, 34, 43, 10 },
    { -31, 12, -11, -70, 14, -56, 65, 47, -43, -7, 28, -71, -33, 11, -18, -10 },
};
static const int8_t turbo3_tcq_before[4][16] = {
    { 14, -32, -12, 7, -8, -21, 11, -4, -4, 39, 26, 26, 53, 12, -27, 34 },
    { 16, 42, 28, 2, 7, 60, 18, -14, -46, -33, -5, -14, 41, -68, -26, -48 },
    { -21, 12, 40, 22, -14, -11, 53, -21, 4, 22, 21, 12, 21, 50, -48, 78 },
    { 39, -8, 24, 6, -1, -32, 0, 15, 19, 25, -36, 43, -14, 32, 5, 30 },
};
#define TURBO3_TCQ_D_OF_RMS 1.1025f // 2^13 / (187.5 * 39.63 levels of a sigma)
