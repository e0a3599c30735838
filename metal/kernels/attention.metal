// Decode attention by [dim_k, dim_v] and queries per SIMD-group. Types, tables, masks are function constants.
#include "turbo-attention.h"
#include "turbo-merge.h"

typedef decltype(kernel_turbo_attention<128, 128, 1>) kernel_turbo_attention_t;

// clang-format off: one instantiation a line
template [[host_name("kernel_turbo_attention_dk64_dv64_q1")]]    kernel kernel_turbo_attention_t kernel_turbo_attention< 64,  64,  1>;
template [[host_name("kernel_turbo_attention_dk64_dv64_q2")]]    kernel kernel_turbo_attention_t kernel_turbo_attention< 64,  64,  2>;
template [[host_name("kernel_turbo_attention_dk64_dv64_q4")]]    kernel kernel_turbo_attention_t kernel_turbo_attention< 64,  64,  4>;
template [[host_name("kernel_turbo_attention_dk64_dv64_q8")]]    kernel kernel_turbo_attention_t kernel_turbo_attention< 64,  64,  8>;
template [[host_name("kernel_turbo_attention_dk64_dv64_q16")]]   kernel kernel_turbo_attention_t kernel_turbo_attention< 64,  64, 16>;

template [[host_name("kernel_turbo_attention_dk96_dv64_q4")]]    kernel kernel_turbo_attention_t kernel_turbo_attention< 96,  64,  4>;
template [[host_name("kernel_turbo_attention_dk96_dv64_q8")]]    kernel kernel_turbo_attention_t kernel_turbo_attention< 96,  64,  8>;

template [[host_name("kernel_turbo_attention_dk128_dv128_q1")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<128, 128,  1>;
template [[host_name("kernel_turbo_attention_dk128_dv128_q2")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<128, 128,  2>;
template [[host_name("kernel_turbo_attention_dk128_dv128_q4")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<128, 128,  4>;
template [[host_name("kernel_turbo_attention_dk128_dv128_q8")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<128, 128,  8>;
template [[host_name("kernel_turbo_attention_dk128_dv128_q16")]] kernel kernel_turbo_attention_t kernel_turbo_attention<128, 128, 16>;

template [[host_name("kernel_turbo_attention_dk192_dv128_q4")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<192, 128,  4>;
template [[host_name("kernel_turbo_attention_dk192_dv128_q8")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<192, 128,  8>;

template [[host_name("kernel_turbo_attention_dk256_dv256_q1")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<256, 256,  1>;
template [[host_name("kernel_turbo_attention_dk256_dv256_q2")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<256, 256,  2>;
template [[host_name("kernel_turbo_attention_dk256_dv256_q4")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<256, 256,  4>;
template [[host_name("kernel_turbo_attention_dk256_dv256_q8")]]  kernel kernel_turbo_attention_t kernel_turbo_attention<256, 256,  8>;
// clang-format on
