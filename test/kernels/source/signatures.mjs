// Reads the parameters of kernel functions: which argument is which [[attribute]].

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
