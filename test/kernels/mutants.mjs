// Planted mistakes, each of which must be noticed: a test of the tests. A new kernel brings its own rows.

import { runProgram, twoAtATime } from '../programs.mjs';
import { buildModule, modules } from './build.mjs';
import { checkModule } from './checks.mjs';
import { RECENT } from './mutants-recent.mjs';
import { TURBO } from './mutants-turbo.mjs';

/**
 * module: of build.mjs; find: text of the amalgamated source, there exactly once; cases: filter of the cases that must fail;
 * seenBy: 'types' (CHECK mode or the lint) or 'cases'; as: what the message must say; keep: host names to compile, as in build.mjs.
 * @typedef {{module: string, why: string, find: string, replace: string, as: RegExp, keep?: RegExp} &
 *   ({seenBy: 'types'} | {seenBy: 'cases', cases: string})} Mutant
 */

const FLOATS = { module: 'group-sum', seenBy: 'cases', cases: 'threadgroup, float', keep: /kernel_group_sum_f32/ };
const TYPES = { module: 'group-sum', seenBy: 'types' };
const THREADGROUP_BARRIER = 'threadgroup_barrier(mem_flags::mem_threadgroup);';
const SIMDGROUP_BARRIER = 'simdgroup_barrier(mem_flags::mem_threadgroup);';

/** The tester itself, on a kernel that is right. @type {Mutant[]} */
const TESTER = [
  {
    ...FLOATS,
    why: 'no threadgroup barrier',
    find: THREADGROUP_BARRIER,
    replace: '',
    as: /race: read after write between simdgroups .* at group-sum.metal:\d+; group-sum.metal:\d+/,
  },
  {
    ...FLOATS,
    why: 'no simdgroup barrier',
    find: SIMDGROUP_BARRIER,
    replace: '',
    as: /race: read after write inside a simdgroup/,
  },
  {
    ...FLOATS,
    why: 'a barrier that orders no memory',
    find: SIMDGROUP_BARRIER,
    replace: 'simdgroup_barrier(mem_flags::mem_none);',
    as: /race: read after write inside a simdgroup/,
  },
  {
    ...FLOATS,
    why: 'a collective instead of a barrier',
    find: SIMDGROUP_BARRIER,
    replace: 'simd_sum(sum);',
    as: /race: read after write inside a simdgroup/,
  },
  {
    ...FLOATS,
    why: 'a barrier that one simdgroup skips',
    find: THREADGROUP_BARRIER,
    replace: `if (group != 1) ${THREADGROUP_BARRIER}`,
    as: /barrier after lanes have returned/,
  },
  {
    ...FLOATS,
    why: 'a barrier that half of the lanes skip',
    find: THREADGROUP_BARRIER,
    replace: `if (lane < 16) ${THREADGROUP_BARRIER} else sum = simd_sum(sum);`,
    as: /divergent barrier or collective \(.* wait for ever\) at group-sum.metal:\d+; group-sum.metal:\d+/,
  },
  {
    ...FLOATS,
    why: 'a collective in a branch',
    find: 'sum = simd_sum(sum);',
    replace: 'if (lane < 16) { sum = simd_sum(sum); }',
    as: /divergent collective \(16 and 16 lanes of one simdgroup\) at group-sum.metal:\d+; group-sum.metal:\d+/,
  },
  {
    ...FLOATS,
    why: 'one value past the row',
    find: 'i < args.n; i += groups*32',
    replace: 'i <= args.n; i += groups*32',
    as: /device memory out of bounds \(x?/,
  },
  {
    ...FLOATS,
    why: 'a value before the buffer',
    find: 'device const T * px = (device const T *) x + row*args.n;',
    replace: 'device const T * px = (device const T *) x + row*args.n - 1;',
    as: /device memory out of bounds \(load 4 bytes before x\)/,
  },
  {
    ...FLOATS,
    why: 'threadgroup memory past its end',
    find: 'partial[groups + group*32 + lane] = lane;',
    replace: 'partial[groups + group*32 + lane + 1] = lane;',
    as: /threadgroup memory out of bounds/,
  },
  {
    ...FLOATS,
    why: 'threadgroup memory that nobody wrote',
    find: 'staged[lane] = lane < groups ? partial[lane] : 0.0f;',
    replace: 'if (lane < groups) { staged[lane] = partial[lane]; }',
    as: /read of uninitialised threadgroup memory/,
  },
  {
    ...FLOATS,
    why: 'rows that write the same place',
    find: 'y[row] =',
    replace: 'y[0] =',
    as: /two threads write the same device bytes/,
  },
  {
    ...FLOATS,
    why: 'an index past a constant table',
    find: 'table[i & 3]',
    replace: 'table[i & 7]',
    as: /undefined behaviour: array index/,
  },
  {
    ...FLOATS,
    why: 'a shift by more bits than there are',
    find: 'table[i & 3]',
    replace: 'table[(i >> (i + 8)) & 3]',
    as: /undefined behaviour: shift count/,
  },
  {
    ...FLOATS,
    why: 'a wrong value',
    find: '{ 1.0f, -0.5f, 0.25f, 2.0f }',
    replace: '{ 1.0f, -0.5f, 0.25f, 1.0f }',
    as: /y\.as<float>\(\)\[row\] == /,
  },
  {
    ...TYPES,
    why: 'a device pointer kept as constant',
    find: 'device const T * px =',
    replace: 'constant T * px =',
    as: /error: cannot initialize a variable of type/,
  },
  {
    ...TYPES,
    why: 'a cast from device to threadgroup',
    find: '(device const T *) x + row',
    replace: '(threadgroup const T *) x + row',
    as: /error: C-style cast .* converts between mismatching address spaces/,
  },
  {
    ...TYPES,
    why: 'a local pointer without an address space',
    find: 'device const T * px =',
    replace: 'const T * px =',
    as: /no matching function for call to 'weighted'/,
  },
  {
    ...TYPES,
    why: 'a parameter without an address space',
    find: 'float weighted(device const T * x',
    replace: 'float weighted(const T * x',
    as: /no address space: group-sum.metal:\d+: x/,
  },
  {
    ...TYPES,
    why: 'a kernel parameter without an address space',
    find: 'threadgroup float * partial',
    replace: 'float * partial',
    as: /no address space: group-sum.metal:\d+: partial/,
  },
  {
    ...TYPES,
    why: 'a misspelt attribute',
    find: '[[thread_index_in_simdgroup]]',
    replace: '[[thread_index_in_simd_group]]',
    as: /unknown attribute thread_index_in_simd_group/,
  },
  {
    ...TYPES,
    why: 'a write to constant arguments',
    find: 'float sum = 0.0f;',
    replace: 'float sum = 0.0f; args.scale = 1.0f;',
    as: /error: (cannot assign|read-only variable)/,
  },
  {
    ...TYPES,
    why: 'double',
    find: 'float sum = 0.0f;',
    replace: 'double sum = 0.0f;',
    as: /error: .*double/,
  },
  {
    ...TYPES,
    why: 'vectors that convert by themselves',
    find: 'float sum = 0.0f;',
    replace: 'half4 h = float4(0.0f); float sum = h.x;',
    as: /error: no viable conversion/,
  },
];

export const MUTANTS = [...TESTER, ...TURBO, ...RECENT];

// --- plants them and sees that the tests notice

/** A mistake may make a kernel loop for ever. */
const LIMIT_MS = 120_000;
/** Failed checks of a case: the first ones need not say yet what the mistake is. */
const ENOUGH = 10;

/**
 * @param {Mutant[]} mutants
 * @param {{program: string, named: string[]}} cases named: the --module arguments of the right modules
 * @returns {Promise<{name: string, problem: string}[]>} problem is empty where the mistake was noticed
 */
export function runMutants(mutants, cases) {
  return twoAtATime(mutants, async (mutant, index) => ({
    name: `planted mistake in ${mutant.module}: ${mutant.why}`,
    problem: await unnoticed(mutant, index, cases).catch((error) => error.message),
  }));
}

async function unnoticed(mutant, index, cases) {
  const module = modules().find(({ name }) => name === mutant.module);
  if (!module) return `there is no module ${mutant.module}`;
  const options = {
    name: `${mutant.module}.mutant-${index}`,
    change: (text) => plant(text, mutant),
    keep: mutant.keep,
  };
  const seen =
    mutant.seenBy === 'types' ? await checkModule(module, options) : await execute(module, options, mutant, cases);
  if (seen === '') return 'nothing noticed it';
  return mutant.as.test(seen) ? '' : `it was noticed, but not as ${mutant.as}:\n${seen}`;
}

/** @returns {Promise<string>} what the cases that failed said; empty: all passed */
async function execute(module, options, { module: name, cases: filter }, { program, named }) {
  const file = await buildModule(module, options);
  const args = [...named, '--module', `${name}=${file}`, '--failures', String(ENOUGH), filter];
  const { stdout, status, signal } = await runProgram(program, args, { timeoutMs: LIMIT_MS });
  if (signal) return `${stdout}\nthe cases did not end: ${signal}`;
  const closing = /^(\d+) passed, (\d+) failed/m.exec(stdout);
  if (!closing) return `${stdout}\nthe program ended early`;
  if (Number(closing[1]) + Number(closing[2]) === 0) throw new Error(`no case is named "${filter}"`);
  return status === 0 ? '' : stdout;
}

/** A mutant whose place is gone must be rewritten, not forgotten. White space is the formatter's, and counts for nothing. */
function plant(text, { find, replace, why }) {
  const place = new RegExp(Array.from(find.replace(/\s+/g, ''), escaped).join('\\s*'), 'g');
  const found = text.match(place)?.length ?? 0;
  if (found !== 1) throw new Error(`"${why}": its text is there ${found} times, not once: ${find}`);
  return text.replace(place, () => replace);
}

const escaped = (character) => character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
