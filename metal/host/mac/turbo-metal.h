// What the patches of ggml-metal call; compiles as C++ and Objective-C.
//
// | hook                        | called from (upstream function)                                     |
// |-----------------------------|---------------------------------------------------------------------|
// | X(TURBO, turbo)             | ggml-metal-device.m, list of libraries: embed.c has its source      |
// | turbo_metal_supports_op     | ggml-metal-device.m, ggml_metal_device_supports_op                  |
// | turbo_metal_encode_op       | ggml-metal-ops.cpp, ggml_metal_op_encode_impl                       |
// | turbo_metal_f16             | ggml-metal-ops.cpp, ggml_metal_op_flash_attn_ext                    |
// | turbo_metal_alloc           | ggml-metal.cpp, ggml_backend_metal_buffer_type_get_alloc_size       |
#pragma once

#include "ggml-metal-device.h"

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether a turbo type takes part in the operation.
bool turbo_metal_involves(const struct ggml_tensor * op);

// Whether Metal does such an operation. has_kernels: our library was compiled. Logs each reason against it once.
bool turbo_metal_supports_op(
    const struct ggml_metal_device_props * props, bool has_kernels, const struct ggml_tensor * op);

// Encodes an operation with a turbo type. False, with nothing encoded: upstream's code does it.
bool turbo_metal_encode_op(
    ggml_metal_device_t dev, ggml_metal_library_t lib, ggml_metal_encoder_t enc, const struct ggml_tensor * op);

// Bytes after the result of an operation that upstream does not reserve itself: res raised where turbo types need more.
size_t turbo_metal_alloc(const struct ggml_tensor * op, size_t res);

#ifdef __cplusplus
}

// Attention of many rows with turbo types: expands K and V to f16 behind the result and makes `op` one with f16 tensors, so that
// upstream's f16 kernels take it. Others stay as they are. Must live as long as op is used.
class turbo_metal_f16 {
public:
    turbo_metal_f16(ggml_metal_library_t lib, ggml_metal_encoder_t enc, ggml_tensor *& op);

private:
    ggml_tensor copy;
    ggml_tensor side[2];
};
#endif
