#version 450
// Joins the ranges of positions that decode.comp and decode-fragments.comp split a row into: upstream's flash_attn_split_k_reduce, whose
// lanes read one range after the other, each when the one before has come. With 65 ranges that is a wait of 65 reads, so here eight parts
// of a workgroup take every eighth range, nine of them at once, each with a maximum of its own, and meet at one barrier.

#extension GL_EXT_control_flow_attributes : enable

layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;

// [D, heads, ranges, tokens, streams], then l and m of [heads, 2, ranges, tokens, streams]
layout (binding = 0) readonly buffer A { float data_a[]; };
layout (binding = 0) readonly buffer A4 { vec4 data_a4[]; };
layout (binding = 1) readonly buffer S { float data_s[]; };
layout (binding = 2) writeonly buffer O { vec4 data_o[]; };

// of flash_attn_split_k_reduce.comp
layout (push_constant) uniform parameter {
    uint D;
    uint ne1;
    uint ne2;
    uint ne3;
    uint k_num;
    uint sinks;
} p;

const uint VECTORS = 32; // of a row of up to 128 values
const uint PARTS   = 8;
const uint AHEAD   = 9;  // ranges that are read at once: with 132 multiprocessors and 4 KV heads there are up to 66
#define LOWEST (-1.7e38) // as decode.glsl

shared vec4 sum_sh[PARTS*VECTORS];
shared vec2 state_sh[PARTS]; // m and l

void main() {
    const uint row    = gl_WorkGroupID.x;
    const uint tokens = p.ne2*p.ne3;
    const uint token  = gl_WorkGroupID.z; // of all streams
    const uint vector = gl_LocalInvocationIndex%VECTORS;
    const uint part   = gl_LocalInvocationIndex/VECTORS;
    const bool here   = vector < p.D/4;
    const uint states = p.D*p.ne1*p.k_num*tokens;

    float m = LOWEST, l = 0.0;
    vec4 sum = vec4(0.0);
    [[dont_unroll]] for (uint first = part; first < p.k_num; first += PARTS*AHEAD) {
        vec2 state[AHEAD];
        vec4 value[AHEAD];
        float top = m;
        [[unroll]] for (uint i = 0; i < AHEAD; ++i) {
            const uint range = min(first + i*PARTS, p.k_num - 1) + p.k_num*token;
            state[i] = vec2(data_a[states + p.ne1*(2*range + 1) + row], data_a[states + p.ne1*2*range + row]);
            // by all lanes: a read behind a condition may be waited for before the next one leaves
            value[i] = data_a4[(p.ne1*range + row)*(p.D/4) + min(vector, p.D/4 - 1u)];
        }
        [[unroll]] for (uint i = 0; i < AHEAD; ++i) {
            if (first + i*PARTS < p.k_num) {
                top = max(top, state[i].x);
            }
        }
        const float factor = exp(m - top);
        m = top;
        l *= factor;
        sum *= factor;
        [[unroll]] for (uint i = 0; i < AHEAD; ++i) {
            const float weight = first + i*PARTS < p.k_num ? exp(state[i].x - m) : 0.0;
            l += weight*state[i].y;
            sum += weight*value[i];
        }
    }
    sum_sh[part*VECTORS + vector] = sum;
    if (vector == 0) {
        state_sh[part] = vec2(m, l);
    }
    barrier();
    if (part != 0 || !here) {
        return;
    }

    float top = p.sinks != 0 ? data_s[row] : LOWEST;
    [[unroll]] for (uint i = 0; i < PARTS; ++i) {
        top = max(top, state_sh[i].x);
    }
    float total = p.sinks != 0 ? exp(data_s[row] - top) : 0.0;
    vec4 joined = vec4(0.0);
    [[unroll]] for (uint i = 0; i < PARTS; ++i) {
        const float factor = exp(state_sh[i].x - top);
        total  += factor*state_sh[i].y;
        joined += factor*sum_sh[i*VECTORS + vector];
    }
    data_o[(token*p.ne1 + row)*(p.D/4) + vector] = total == 0.0 ? vec4(0.0) : joined/total;
}
