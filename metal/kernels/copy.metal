// set_rows and copies, by format. Type of the other side, of the indices and the table are function constants.
#include "turbo-copy.h"

typedef decltype(kernel_turbo_set_rows<block_turbo4>) kernel_turbo_set_rows_t;
typedef decltype(kernel_turbo_copy_from<block_turbo4>) kernel_turbo_copy_from_t;
typedef decltype(kernel_turbo_copy_to<turbo4_lane<128>>) kernel_turbo_copy_to_t;

// clang-format off: one instantiation a line
template [[host_name("kernel_turbo_set_rows_turbo4")]]     kernel kernel_turbo_set_rows_t  kernel_turbo_set_rows<block_turbo4>;
template [[host_name("kernel_turbo_set_rows_turbo3")]]     kernel kernel_turbo_set_rows_t  kernel_turbo_set_rows<block_turbo3>;
template [[host_name("kernel_turbo_set_rows_turbo4_64")]]  kernel kernel_turbo_set_rows_t  kernel_turbo_set_rows<block_turbo4_64>;
template [[host_name("kernel_turbo_set_rows_turbo3_64")]]  kernel kernel_turbo_set_rows_t  kernel_turbo_set_rows<block_turbo3_64>;

template [[host_name("kernel_turbo_copy_from_turbo4")]]    kernel kernel_turbo_copy_from_t kernel_turbo_copy_from<block_turbo4>;
template [[host_name("kernel_turbo_copy_from_turbo3")]]    kernel kernel_turbo_copy_from_t kernel_turbo_copy_from<block_turbo3>;
template [[host_name("kernel_turbo_copy_from_turbo4_64")]] kernel kernel_turbo_copy_from_t kernel_turbo_copy_from<block_turbo4_64>;
template [[host_name("kernel_turbo_copy_from_turbo3_64")]] kernel kernel_turbo_copy_from_t kernel_turbo_copy_from<block_turbo3_64>;

template [[host_name("kernel_turbo_copy_to_turbo4")]]      kernel kernel_turbo_copy_to_t   kernel_turbo_copy_to<turbo4_lane<128>>;
template [[host_name("kernel_turbo_copy_to_turbo3")]]      kernel kernel_turbo_copy_to_t   kernel_turbo_copy_to<turbo3_lane<128>>;
template [[host_name("kernel_turbo_copy_to_turbo4_64")]]   kernel kernel_turbo_copy_to_t   kernel_turbo_copy_to<turbo4_lane<64>>;
template [[host_name("kernel_turbo_copy_to_turbo3_64")]]   kernel kernel_turbo_copy_to_t   kernel_turbo_copy_to<turbo3_lane<64>>;
// clang-format on
