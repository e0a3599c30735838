#version 450
// New rows of K as upstream's rms_norm.comp with RMS_NORM_ROPE_FUSION stores them in f16: normalized, multiplied by a weight, turned by
// RoPE, then coded. One workgroup takes one head of one token, which is one group.

#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require

#include "rope_params.glsl"

layout (binding = 0) readonly  buffer A { float data_a[]; };
layout (binding = 1) readonly  buffer B { float data_b[]; };
layout (binding = 3) readonly  buffer P { int rope_data_pos[]; };
layout (binding = 4) readonly  buffer F { float rope_data_ff[]; };
layout (binding = 5) writeonly buffer Q { uint data_q[]; };
layout (binding = 6) readonly  buffer I { uvec2 rope_data_i[]; };

#define NORM_ROPE
#include "quantize.glsl"

shared float rope_data_a[GROUP];
shared float rope_data_d[GROUP];

#define RMS_NORM_ROPE_FUSION 1
#define ROPE_D_TYPE float
#include "rope_funcs.glsl"

#define NEOX 2u // GGML_ROPE_TYPE_NEOX

void main() {
    const uint thread  = gl_LocalInvocationID.x;
    const uint head    = gl_WorkGroupID.x;
    const uint token   = gl_WorkGroupID.y;
    const uint dst     = (rope_data_i[token].x*p.rope.set_rows_stride + head + p.rope.d_offset)*WORDS;

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
    store_group(rope_data_d[thread], thread, dst);
}
