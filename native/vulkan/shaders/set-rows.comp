#version 450
// New rows of a cache: one workgroup codes one group.

#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require

layout (binding = 0) readonly  buffer S { S_TYPE data_s[]; };
layout (binding = 1) readonly  buffer I { I_TYPE data_i[]; };
layout (binding = 2) writeonly buffer Q { uint data_q[]; };

#include "quantize.glsl"

layout (push_constant) uniform parameter {
    BINARY_PARAMETERS // param3: native/gpu/fold.h
} p;

void main() {
    const uint thread = gl_LocalInvocationID.x;
    const uint g = gl_WorkGroupID.z*262144u + gl_WorkGroupID.y*512u + gl_WorkGroupID.x;
    if (g*GROUP >= p.ne) {
        return;
    }
    const uint per_row = p.ne00/GROUP;
    const uint i00 = g%per_row*GROUP;
    const uint row = g/per_row;
    // as rows are stored by llama.cpp, without divisions
    uint i01 = row, i02 = 0u, i03 = 0u;
    if (p.ne02 > 1u || p.ne03 > 1u) {
        i01 = row%p.ne01;
        i02 = row/p.ne01%p.ne02;
        i03 = row/p.ne01/p.ne02;
    }
    const uint index = data_i[i01*p.nb10 + (i02 > 0u ? i02%p.ne11 : 0u)*p.nb11 + (i03 > 0u ? i03%p.ne12 : 0u)*p.nb12 + (p.misalign_offsets >> 8 & 0xFFu)] I_LOW;
    const uint src   = i03*p.nb03 + i02*p.nb02 + i01*p.nb01 + i00*p.nb00 + (p.misalign_offsets >> 16);
    const uint dst   = (i03*p.nb23 + i02*p.nb22 + index*p.nb21 + i00/GROUP*p.nb20 + (p.misalign_offsets & 0xFFu))*WORDS;

    store_group(float(data_s[src + thread]), p.param3 != 0, thread, dst);
}
