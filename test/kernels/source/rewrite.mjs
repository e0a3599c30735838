// Rewrites what clang's C++ has no grammar for, line for line; everything else passes through:
//   template [[host_name("N")]] kernel T F<..>;     a registration (EXEC) or an instantiation (CHECK), of the kernels kept
//   constant T X [[function_constant(I)]];          a variable that the executor sets (EXEC) or an extern constant (CHECK)
//   threadgroup T x[N];                             a reference into the threadgroup's memory
//   [[threadgroup(n)]], [[buffer(n)]], positions    dropped; EXEC gets them as a table instead
//   #pragma METAL fp math_mode(safe), contract(off)  clang's pragmas of the same meaning
// CHECK only, where C++ for OpenCL is narrower than MSL:
//   void (*f)(..) as a template parameter           void f(..): pointers to functions with address spaces are refused
//   c ? lvalue : half2(..)                          + on both arms: an lvalue with an address space does not convert

import { signaturesOf } from './signatures.mjs';

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
