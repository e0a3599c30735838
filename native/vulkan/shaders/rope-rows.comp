#version 450
// New rows of K as upstream stores them in f16 by its kernels of RoPE: turned, and with NORM normalized and multiplied by a weight before
// (rope_norm.comp, rope_neox.comp, rms_norm.comp with RMS_NORM_ROPE_FUSION); then coded. One workgroup takes one head of one token, which
// is one group.

#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require

#include "rope_params.glsl"

#ifdef NORM
layout (binding = 0) readonly  buffer A { float data_a[]; };
layout (binding = 1) readonly  buffer B { float data_b[]; };
layout (binding = 3) readonly  buffer P { int rope_data_pos[]; };
layout (binding = 4) readonly  buffer F { float rope_data_ff[]; };
layout (binding = 5) writeonly buffer Q { uint data_q[]; };
layout (binding = 6) readonly  buffer I { uvec2 rope_data_i[]; };
#else
layout (binding = 0) readonly  buffer A { float data_a[]; };
layout (binding = 1) readonly  buffer P { int rope_data_pos[]; };
layout (binding = 2) readonly  buffer F { float rope_data_ff[]; };
layout (binding = 3) writeonly buffer Q { uint data_q[]; };
layout (binding = 4) readonly  buffer I { uvec2 rope_data_i[]; };
#endif

#include "quantize.glsl"

layout (push_constant) uniform parameter {
#ifdef NORM
    BINARY_PARAMETERS
#endif
    rope_params rope;
} p;

shared float rope_data_a[GROUP];
shared float rope_data_d[GROUP];

#define RMS_NORM_ROPE_FUSION 1
#define ROPE_D_TYPE float
#include "rope_funcs.glsl"

#define NEOX    2u          // GGML_ROPE_TYPE_NEOX
#define ROTATES (1u << 31)  // turbo_vk_stride

void main() {
    const uint thread = gl_LocalInvocationID.x;
#ifdef NORM
    const uint head   = gl_WorkGroupID.x;
    const uint token  = gl_WorkGroupID.y;
    const float x = data_a[gl_WorkGroupID.z*p.nb03 + token*p.nb02 + head*p.nb01 + (p.misalign_offsets >> 16) + thread];
    const float weight = data_b[(p.misalign_offsets >> 8 & 0xFFu) + thread];
    a_sh[thread] = x*x;
    barrier();
    [[unroll]] for (uint h = GROUP/2u; h > 0u; h /= 2u) {
        if (thread < h) {
            a_sh[thread] += a_sh[thread + h];
        }
        barrier();
    }
    rope_data_a[thread] = x*inversesqrt(a_sh[0]/float(GROUP) + p.param1)*weight;
#else
    const uint row    = gl_WorkGroupID.x + 32768u*gl_WorkGroupID.z;
    if (row >= p.rope.nrows) {
        return;
    }
    const uint head   = row%p.rope.ne01;
    const uint token  = row/p.rope.ne01; // can_fuse_rope_set_rows: one sequence
    rope_data_a[thread] = data_a[p.rope.a_offset + token*p.rope.nb02 + head*p.rope.nb01 + thread];
#endif
    barrier();

    // from and to shared memory, whose first value is that of the head
    rope_params rp = p.rope;
    rp.nb11 = 0u;
    rp.nb12 = 0u;
    rp.nb13 = 0u;
    rp.d_offset = 0u;
    rp.set_rows_stride = 0u;
    if (thread < GROUP/2u) {
        if (rp.rope_mode == NEOX) {
            rope_neox(2u*thread, head, token, 0u, rp);
        } else {
            rope_norm(2u*thread, head, token, 0u, rp);
        }
    }
    barrier();
    const uint stride = p.rope.set_rows_stride & ~ROTATES;
    const uint dst = (rope_data_i[token].x*stride + head + p.rope.d_offset)*WORDS;
    store_group(rope_data_d[thread], (p.rope.set_rows_stride & ROTATES) != 0u, thread, dst);
}
