#version 450
// A dense KV cache [head, heads, positions] expanded to f16 [head, positions, heads], as upstream's dequant_*_transpose.

#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require

#include "blocks.glsl"

layout (constant_id = 0) const uint TYPE = TURBO4;

layout (push_constant) uniform parameter { uint head; uint heads; uint positions; uint unused; uint nel; } p;

layout (local_size_x = 256) in;
layout (binding = 0) readonly  buffer A { uint data_a[]; };
layout (binding = 1) writeonly buffer D { f16vec4 data_d[]; };

void main() {
    for (uint t = gl_WorkGroupID.x*1024u + gl_LocalInvocationID.x, n = 0u; n < 4u; ++n, t += 256u) {
        const uint i = 4u*t;
        if (i >= p.nel) {
            return;
        }
        const uint group = turbo_group(TYPE);
        const uint base  = i/group*turbo_words(TYPE);
        vec4 v;
        TURBO_EXPAND(data_a, base, TYPE, i%group, v)
        const uint x   = i%p.head;
        const uint row = i/p.head;
        const uint h   = row%p.heads;
        const uint pos = row/p.heads%p.positions;
        const uint s   = row/p.heads/p.positions;
        data_d[(((s*p.heads + h)*p.positions + pos)*p.head + x)/4u] = f16vec4(v);
    }
}
