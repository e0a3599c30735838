// Planted mistakes in metal/kernels; see mutants.mjs. Attention is compiled for one shape, which the chosen cases use.

const ATTENTION = {
  module: 'turbo',
  seenBy: 'cases',
  cases: 'attention, any math',
  keep: /kernel_turbo_attention_(dk128_dv128_q4|merge)/,
};
/** Lengths around the tile: no mask, all orders of lanes. */
const TILE = { ...ATTENTION, cases: 'attention: lengths around the tile' };
/** What the app runs at its first start. */
const SELF_TEST = { ...ATTENTION, cases: 'self-test of one kernel' };
const SET_ROWS = {
  module: 'turbo',
  seenBy: 'cases',
  cases: "set_rows: the CPU quantiser's bytes",
  keep: /kernel_turbo_set_rows_.*/,
};
const COPIES = { module: 'turbo', seenBy: 'cases', cases: "copies: the CPU's values", keep: /kernel_turbo_copy_.*/ };
const TYPES = { module: 'turbo', seenBy: 'types', keep: ATTENTION.keep };

const WRONG_VALUES = /error .* of its variance: turbo/;
const WRONG_BYTES = /cpu_blocks/;
const BARRIER = 'simdgroup_barrier(mem_flags::mem_threadgroup);';

/** Bytes and levels. @type {import('./mutants.mjs').Mutant[]} */
const FORMAT = [
  {
    ...ATTENTION,
    why: 'nibbles of K in the wrong order',
    find: 'const uint c = qs[i/2] >> (i & 1)*4;',
    replace: 'const uint c = qs[i/2] >> (1 - (i & 1))*4;',
    as: WRONG_VALUES,
  },
  {
    ...COPIES,
    why: 'nibbles of V in the wrong order',
    find: 'turbo4_values(uint4(two, two >> 8, two >> 4, two >> 12), scale, table)',
    replace: 'turbo4_values(uint4(two >> 4, two >> 12, two, two >> 8), scale, table)',
    as: /wrong == 0/,
  },
  {
    ...SET_ROWS,
    why: 'nibbles written in the wrong order',
    find: '(uchar) (lo | hi << 4)',
    replace: '(uchar) (hi | lo << 4)',
    as: WRONG_BYTES,
  },
  {
    ...ATTENTION,
    why: 'no norm',
    find: 'return d*TURBO_UNIT*(float)',
    replace: 'return TURBO_UNIT*(float)',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'the sub-scale of another quarter',
    find: 'header >> (16 + 4*quarter)',
    replace: 'header >> (28 - 4*quarter)',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'the magnitude table without signs',
    find: 'return turbo_flip(v, code << 28u);',
    replace: 'return v;',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'the smaller magnitudes alone of a shuffled table',
    find: '(code[k] & 4u) != 0 ? (float) m.y : (float) m.x',
    replace: '(float) m.x',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'a shuffled table from the next lane of the quad',
    find: 'quad_shuffle(table.three, (ushort) (code[k] & 3u))',
    replace: 'quad_shuffle(table.three, (ushort) (code[k] + 1u & 3u))',
    as: WRONG_VALUES,
  },
  {
    ...COPIES,
    why: 'the bits of a spread code in another order',
    find: '(word0 >> 3 & 0x11111111u) | (word1 >> 2',
    replace: '(word1 >> 3 & 0x11111111u) | (word0 >> 2',
    as: /wrong == 0/,
  },
  {
    ...COPIES,
    why: 'the scales of a group of 128 for one of 64',
    find: 'if (group == 128) {\n            return turbo_scales',
    replace: 'if (group > 32) {\n            return turbo_scales',
    as: /wrong == 0/,
  },
];

/** @type {import('./mutants.mjs').Mutant[]} */
const BARRIERS = [
  {
    ...TILE,
    why: 'no barrier after the queries are loaded',
    find: 'threadgroup_barrier(mem_flags::mem_threadgroup); // queries of other lanes',
    replace: '',
    as: /race: read after write|uninitialised threadgroup memory/,
  },
  {
    ...TILE,
    why: 'no barrier before the softmax',
    find: `${BARRIER} // scores of other lanes`,
    replace: '',
    as: /race: read after write inside a simdgroup|uninitialised threadgroup memory/,
  },
  {
    ...TILE,
    why: 'no barrier before V',
    find: `${BARRIER} // weights and scales of other lanes`,
    replace: '',
    as: /race: read after write inside a simdgroup|uninitialised threadgroup memory/,
  },
  {
    ...TILE,
    why: 'no barrier before the next positions',
    find: `${BARRIER} // the next positions overwrite what was read here`,
    replace: '',
    as: /race: write after read inside a simdgroup/,
  },
  {
    ...SET_ROWS,
    why: 'no barrier between rounds of the search',
    find: `${BARRIER} // the next round overwrites them`,
    replace: '',
    as: /race: write after read inside a simdgroup/,
  },
];

/** @type {import('./mutants.mjs').Mutant[]} */
const JOINS = [
  {
    ...ATTENTION,
    why: 'no barrier before sums are handed over',
    find: 'threadgroup_barrier(mem_flags::mem_threadgroup); // what the memory was used for before',
    replace: '',
    as: /race: write after read between simdgroups/,
  },
  {
    ...ATTENTION,
    why: 'no barrier before sums are taken over',
    find: 'threadgroup_barrier(mem_flags::mem_threadgroup); // sums of the other half',
    replace: '',
    as: /race: read after write between simdgroups|uninitialised/,
  },
  {
    ...ATTENTION,
    why: 'sums of SIMD-groups under different maxima',
    find: 'const float theirs = exp(other.x - m);',
    replace: 'const float theirs = 1.0f;',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'no barrier before the parts are added up',
    find: 'threadgroup_barrier(mem_flags::mem_threadgroup); // sums of the other SIMD-groups',
    replace: '',
    as: /race: read after write between simdgroups|uninitialised/,
  },
  {
    ...ATTENTION,
    cases: 'attention: NaN in rows',
    why: 'hidden rows of V keep their scale',
    find: 's = float4(0.0f);',
    replace: '',
    as: /wrong == 0/,
  },
];

/** @type {import('./mutants.mjs').Mutant[]} */
const POSITIONS = [
  {
    ...TILE,
    why: 'one position past the last',
    find: 'const bool inside = position < args.n_kv;',
    replace: 'const bool inside = position <= args.n_kv;',
    as: WRONG_VALUES,
  },
  {
    ...TILE,
    why: 'the last position left out',
    find: 'const bool inside = position < args.n_kv;',
    replace: 'const bool inside = position < args.n_kv - 1;',
    as: WRONG_VALUES,
  },
  {
    ...TILE,
    why: 'a last tile of one position left out',
    find: 'p0 < args.n_kv; p0 +=',
    replace: 'p0 < args.n_kv - 1; p0 +=',
    as: WRONG_VALUES,
  },
  {
    ...TILE,
    why: 'rows of the last tile past the end of the cache',
    find: 'min(args.n_kv - 1 - p0, TURBO_METAL_POSITIONS - 1)',
    replace: 'min(args.n_kv - p0, TURBO_METAL_POSITIONS - 1)',
    as: /device memory out of bounds/,
  },
  {
    ...TILE,
    why: 'splits that overlap',
    find: 'const int split   = tgpig.z%n_part*args.simdgroups + sgitg;',
    replace: 'const int split   = tgpig.z%n_part*args.simdgroups;',
    as: /two threads write the same device bytes|error .* of its variance/,
  },
];

/** @type {import('./mutants.mjs').Mutant[]} */
const HEADS = [
  {
    ...ATTENTION,
    why: 'the query of another head of the group',
    find: 'const int head = head_kv*args.gqa + (first + h)%args.gqa;\n            x =',
    replace: 'const int head = head_kv*args.gqa + (first + h + 1)%args.gqa;\n            x =',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'the result to another head of the group',
    find: 'const int head = head_kv*args.gqa + (first + h)%args.gqa;\n            const ulong vec',
    replace: 'const int head = head_kv*args.gqa + (first + h + 1)%args.gqa;\n            const ulong vec',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'heads numbered by rows',
    find: 'const int head = head_kv*args.gqa + query%args.gqa;',
    replace: 'const int head = head_kv + query%args.gqa;',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'V weighted as the first head of the group does',
    find: '(weights + h*TURBO_METAL_POSITIONS))[r0/4]',
    replace: '(weights))[r0/4]',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'the sink of another head',
    find: 'sink = sinks[vec % args.n_head];',
    replace: 'sink = sinks[(vec + 1) % args.n_head];',
    as: WRONG_VALUES,
  },
];

/** @type {import('./mutants.mjs').Mutant[]} */
const SOFTMAX = [
  {
    ...TILE,
    why: 'sums that do not fade when the maximum grows',
    find: 'sum[h][g] *= fade;',
    replace: '',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'no soft cap',
    find: 's = args.softcap*precise::tanh(s);',
    replace: 's = args.softcap*s;',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'the slope of ALiBi left out',
    find: 's += bias*simd_shuffle(me.slope, (ushort) h);',
    replace: 's += bias;',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'a mask that is not looked at',
    find: 'm = max(((device const half *) mask)[position], (half) -MAXHALF);',
    replace: 'm = 0.0h;',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    why: 'splits added up without their maxima',
    find: 'const float w = exp(state[i].x - m);',
    replace: 'const float w = 1.0f;',
    as: WRONG_VALUES,
  },
  {
    ...ATTENTION,
    cases: 'attention: a row of V that one head',
    why: 'rows of V left out by what the last head of the group needs',
    find: 'heavy = max(heavy, w);',
    replace: 'heavy = w;',
    as: /error .* of its variance/,
  },
];

/** @type {import('./mutants.mjs').Mutant[]} */
const QUANTISER = [
  {
    ...SET_ROWS,
    why: 'errors in units of their sub-scale',
    find: '(float) (mult*norm - 8*dot)*(float) mult, s',
    replace: '(float) (mult*norm - 8*dot), s',
    as: WRONG_BYTES,
  },
  {
    ...SET_ROWS,
    why: 'one round of the search',
    find: 'd = turbo_refit<levels>(a, d, 0, 1, whole, s, lane);',
    replace: '',
    as: WRONG_BYTES,
  },
  {
    ...SET_ROWS,
    why: 'rows that ignore their index',
    find: 'device block * out = (device block *) (dst + row*args.nb1 +',
    replace: 'device block * out = (device block *) (dst + g.i01*args.nb1 +',
    as: WRONG_BYTES,
  },
];

/** @type {import('./mutants.mjs').Mutant[]} */
const SPACES = [
  {
    ...TYPES,
    why: 'weights taken for device memory',
    find: 'threadgroup const float * heavy, threadgroup const float * weights',
    replace: 'threadgroup const float * heavy, device const float * weights',
    as: /error: (no matching function|.*address space)/,
  },
  {
    ...TYPES,
    why: 'a row of V taken for arguments',
    find: 'device const char * row = v0 +',
    replace: 'constant char * row = v0 +',
    as: /error: cannot initialize a variable/,
  },
  {
    ...TYPES,
    why: 'sums without an address space',
    find: 'thread float4 (& sum)[NQ][turbo_v_row<DV>::GROUPS], turbo_table table, ushort lane) {\n    constexpr',
    replace: 'float4 (& sum)[NQ][turbo_v_row<DV>::GROUPS], turbo_table table, ushort lane) {\n    constexpr',
    as: /no address space: turbo-values.h:\d+: sum/,
  },
  {
    ...TYPES,
    why: 'a block in another address space',
    find: 'device uchar * qs = (device uchar *) b + 4',
    replace: 'threadgroup uchar * qs = (threadgroup uchar *) b + 4',
    as: /error: C-style cast/,
  },
];

/** A sample of the others, for the samples of metal/host. @type {import('./mutants.mjs').Mutant[]} */
const SELF_TESTS = [
  {
    ...SELF_TEST,
    why: 'the self-test sees nibbles in the wrong order',
    find: 'const uint c = qs[i/2] >> (i & 1)*4;',
    replace: 'const uint c = qs[i/2] >> (1 - (i & 1))*4;',
    as: /q4 \w+"\) is "K .*squared error/,
  },
  {
    ...SELF_TEST,
    why: 'the self-test sees that the last position is left out',
    find: 'const bool inside = position < args.n_kv;',
    replace: 'const bool inside = position < args.n_kv - 1;',
    as: /q4 \w+"\) is "K .*squared error/,
  },
  {
    ...ATTENTION,
    cases: 'attention: NaN in rows of V that nobody sees',
    why: 'hidden rows of f16 V count',
    find: 'if (format::UNSCALED) {',
    replace: 'if (false) {',
    as: /wrong == 0/,
  },
  {
    ...SELF_TEST,
    why: 'the self-test sees parts merged with weights of another',
    find: 'sum[j] += in[i*n4 + d]*weight[i];',
    replace: 'sum[j] += in[i*n4 + d]*weight[0];',
    as: /q4 \w+"\) is "K .*squared error/,
  },
  {
    ...SELF_TEST,
    why: 'the self-test sees the result of another head',
    find: 'const int head = head_kv*args.gqa + (first + h)%args.gqa;\n            const ulong vec',
    replace: 'const int head = head_kv*args.gqa + (first + h + 1)%args.gqa;\n            const ulong vec',
    as: /q4 \w+"\) is "K .*squared error/,
  },
];

export const TURBO = [
  ...SELF_TESTS,
  ...FORMAT,
  ...BARRIERS,
  ...JOINS,
  ...POSITIONS,
  ...HEADS,
  ...SOFTMAX,
  ...QUANTISER,
  ...SPACES,
];
