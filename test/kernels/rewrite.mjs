// Rewrites what clang's C++ has no grammar for, line for line; everything else passes through:
//   template [[host_name("N")]] kernel T F<..>;     a registration (EXEC) or an instantiation (CHECK), of the kernels kept
//   constant T X [[function_constant(I)]];          a variable that the executor sets (EXEC) or an extern constant (CHECK)
//   threadgroup T x[N];                             a reference into the threadgroup's memory
//   [[threadgroup(n)]], [[buffer(n)]], positions    dropped; EXEC gets them as a table instead
//   #include <metal_stdlib>                         dropped: the shim is there before the source
//   #pragma METAL fp math_mode(safe), contract(off)  clang's pragmas of the same meaning
// CHECK only, where C++ for OpenCL is narrower than MSL:
//   void (*f)(..) as a template parameter           void f(..): pointers to functions with address spaces are refused
//   c ? lvalue : half2(..)                          + on both arms: an lvalue with an address space does not convert

/** @typedef {'check' | 'exec'} Mode */

/**
 * @param {string} text an amalgamated source
 * @param {{mode: Mode, keep?: RegExp}} options keep: host names of the kernels to instantiate; all when missing
 * @returns {{text: string, kernels: string[]}}
 */
export function rewrite(text, { mode, keep = /.*/ }) {
  const kernels = [];
  const signatures = signaturesOf(text);
  const kept = (name) => new RegExp(`^(?:${keep.source})$`).test(name);

  let body = text.replace(
    /template\s*\[\[host_name\("([^"]+)"\s*\)\]\]\s*kernel\s+([^;]+);/g,
    (whole, name, instance) => {
      const lines = '\n'.repeat(whole.split('\n').length - 1);
      if (!kept(name)) return lines;
      kernels.push(name);
      if (mode === 'check') return `template ${instance.replaceAll('\n', ' ')};${lines}`;
      const { fn, args } = /^\s*\S+\s+(?<fn>\w+)(?<args>[\s\S]*)$/.exec(instance).groups;
      return `MSL_KERNEL("${name}", "${fn}", ${fn}${args.replaceAll('\n', ' ')})${lines}`;
    },
  );
  body = body
    .replace(
      /\bconstant\s+(\w+)\s+(\w+)\s*\[\[\s*function_constant\(([^)]*)\)\s*\]\]\s*;/g,
      'MSL_FUNCTION_CONSTANT($1, $2, $3)',
    )
    .replace(/^(\s*)threadgroup\s+(\w+)\s+(\w+)\s*((?:\[[^\]]*\])+)\s*;/gm, '$1MSL_THREADGROUP_VARIABLE($2, $3, $4);')
    .replace(/^#include <metal_stdlib>$/gm, '')
    .replace(/#pragma METAL fp math_mode\(safe\)/g, '#pragma clang fp reassociate(off) reciprocal(off)')
    .replace(/#pragma METAL fp contract\((\w+)\)/g, '#pragma clang fp contract($1)')
    .replace(/\[\[\s*(?:threadgroup|buffer)\s*\(\s*\d+\s*\)\s*\]\]/g, '')
    .replace(/\[\[\s*max_total_threads_per_threadgroup\s*\([^)]*\)\s*\]\]/g, '');
  if (mode === 'check') {
    body = body
      .replace(/\bvoid\s*\(\*(\w+)\)\s*\(/g, 'void $1(')
      .replace(/\?\s*([\w[\].]+)\s*:\s*((?:half|float|int|uint)[234])\(/g, '? +$1 : +$2(');
    return { text: body, kernels };
  }
  const plain = signatures.filter(({ name, template }) => !template && kept(name)).map(({ name }) => name);
  kernels.push(...plain);
  const registrations = plain.map((name) => `MSL_KERNEL("${name}", "${name}", ${name})`);
  return { text: [body, '#line 1 "registrations"', ...registrations, ...signatures.map(table)].join('\n'), kernels };
}

function table({ name, parameters }) {
  const rows = parameters.map(({ role, index }) => `{ "${role}", ${index} }`);
  return `MSL_PARAMETERS(${name}, ${rows.join(', ')})`;
}

// --- the parameters of kernel functions: which argument is which [[attribute]]

/**
 * @typedef {{role: string, index: number}} Parameter role: "buffer", "threadgroup", or a position's attribute
 * @typedef {{name: string, template: boolean, parameters: Parameter[]}} Signature
 */

/** What exec/launch.cpp can answer. */
const POSITIONS = new Set([
  'thread_position_in_grid',
  'thread_position_in_threadgroup',
  'thread_index_in_threadgroup',
  'thread_index_in_simdgroup',
  'threadgroup_position_in_grid',
  'threadgroups_per_grid',
  'threads_per_threadgroup',
  'threads_per_simdgroup',
  'simdgroup_index_in_threadgroup',
  'simdgroups_per_threadgroup',
]);

/**
 * @param {string} source
 * @returns {Signature[]}
 * @throws {Error} for an attribute that Metal has not, or the executor does not know
 */
export function signaturesOf(source) {
  const text = withoutComments(source);
  return [...text.matchAll(/(?<!\w)kernel\s+void\s+(\w+)\s*\(/g)].map((match) => {
    const start = match.index + match[0].length;
    return {
      name: match[1],
      template: text.slice(0, match.index).trimEnd().endsWith('>'),
      parameters: number(split(text.slice(start, closing(text, start))).map(attribute)),
    };
  });
}

export function withoutComments(source) {
  return source.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/\/\/[^\n]*/g, '');
}

/** Position of the bracket that closes the one before start. */
function closing(text, start) {
  let depth = 1;
  for (let i = start; ; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')') depth--;
    if (depth === 0) return i;
    if (i >= text.length) throw new Error('a kernel has no closing bracket');
  }
}

/** At commas outside brackets. */
function split(list) {
  const parts = [''];
  let depth = 0;
  for (const c of list) {
    if ('(<['.includes(c)) depth++;
    if (')>]'.includes(c)) depth--;
    if (c === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += c;
  }
  return parts;
}

function attribute(parameter) {
  const found = /\[\[\s*(\w+)\s*(?:\(\s*(\d+)\s*\))?\s*\]\]/.exec(parameter);
  if (!found) return { role: 'buffer', index: -1 };
  const [, role, index] = found;
  if (role !== 'buffer' && role !== 'threadgroup' && !POSITIONS.has(role)) {
    throw new Error(`unknown attribute ${role} of the parameter ${parameter.trim()}`);
  }
  return { role, index: index === undefined ? -1 : Number(index) };
}

/** Buffers without a number take the next free one, in order. */
function number(parameters) {
  const taken = new Set(
    parameters.filter(({ role, index }) => role === 'buffer' && index >= 0).map(({ index }) => index),
  );
  let next = 0;
  return parameters.map((parameter) => {
    if (parameter.role !== 'buffer' || parameter.index >= 0) return parameter;
    while (taken.has(next)) next++;
    return { role: 'buffer', index: next++ };
  });
}
