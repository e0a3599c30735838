// Values of JSON that are wrong somewhere.

import { pick } from './random.mjs';

/** What JSON.stringify does not write, in its place. */
const unquoted = ['1e400', '-1e400', '9'.repeat(40), 'NaN', '01', '"\\ud800"', '"\\u0000"', 'tru'];
const numbers = [0, -1, 1, 0.5, 1e-320, 1e308, -1e308, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53, 2 ** 63, 99_999];
const texts = [
  ...['a', '', '<|im_end|>', '\u0000', '\ud800', 'x'.repeat(10_000), '__proto__', '{"a":1}', '\r\n\r\nGET / HTTP/1.1'],
  ...[
    'NaN',
    'Infinity',
    '-1',
    '1e999',
    'user',
    'tiny',
    'no-such-model',
    '%s%n',
    '../../etc/passwd',
    '👩‍👩‍👧'.repeat(500),
  ],
  ...['<|im_start|>'.repeat(200), ' '.repeat(50_000), 'data:image/png;base64,AAAA', 'file:///etc/passwd'],
];
const nested = (depth, inner) => {
  let value = inner;
  for (let level = 0; level < depth; level++) value = level % 2 ? { a: value } : [value];
  return value;
};
const lists = [
  ...[[], [[]], [null], [{}], [-1], [1, 'a', null, {}], [1e9, 2 ** 31], [99_999_999], nested(40, 1), nested(96, 'a')],
  ...[Array(3000).fill('stop'), Array(3000).fill(''), Array(2000).fill(1), Array(300).fill([0, -1e9])],
];
const objects = [{}, { a: {} }, { type: 'nothing' }, { id: -1, scale: 1e308 }, { 1e9: 1, '-1': false, a: 1 }];

const chain = (length) => Array.from({ length }, (_, at) => `r${at} ::= r${at + 1}`).join('\n');
export const grammars = [
  ...['root ::= "a"', 'root ::= [a-z]+', 'root ::=', 'root ::= root', 'root ::= a\na ::= root "x"', 'x ::= "a"', '::='],
  ...[
    'root ::= "a"{2,1}',
    'root ::= "a"{0}',
    'root ::= root "a" | "b"',
    'root ::= "a"{0,100000000}',
    'root ::= "a"{99999999999999999999}',
    'root ::= ("a"{1,900}){1,900}',
    'root ::= ["',
  ],
  ...['root ::= "\\x', 'root ::= "\\U00110000"', 'root ::= <[99999999]>', 'root ::= !<nothing>', 'root ::= ("a"*)*'],
  ...['root ::= ""', 'root ::= "" | ""', 'root ::= [^\\x00-\\U0010FFFF]', 'root ::= ("a" | )+', 'root ::= "\u0000"'],
  ...[
    `root ::= ${'('.repeat(50_000)}`,
    `root ::= ${'('.repeat(50_000)}"a"${')'.repeat(50_000)}`,
    '\ud800',
    '('.repeat(90),
  ],
  ...[
    `root ::= r0\n${chain(30_000)}\nr30000 ::= "a"`,
    `root ::= ${'"a" | '.repeat(5000)}"b"`,
    `root ::= ${'a'.repeat(9000)}`,
  ],
];
export const schemas = [
  ...[true, false, null, 5, 'a', [], {}, { type: 'nothing' }, { type: [] }, { type: ['string', 7] }, { properties: 5 }],
  ...[{ $ref: '#' }, { $ref: '#/a/b' }, { $ref: 'http://127.0.0.1:1/x' }, { $ref: 7 }, { allOf: [{ $ref: '#' }] }],
  ...[
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
    { anyOf: [] },
    { oneOf: 'a' },
    { enum: [] },
    { enum: 5 },
  ],
  ...[{ $defs: { a: { properties: { b: { $ref: '#/$defs/a' } } } }, $ref: '#/$defs/a' }, { const: 'x'.repeat(9000) }],
  ...[{ type: 'array', minItems: 1e9 }, { type: 'array', minItems: 5, maxItems: 1, items: {} }, { items: 5 }],
  ...[
    { type: 'string', minLength: -1 },
    { type: 'string', minLength: 1e9, maxLength: 2 },
    { type: 'string', format: 7 },
  ],
  ...[
    { type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 },
    { type: 'string', minLength: 5, maxLength: 1 },
  ],
  ...[{ type: 'integer', minimum: 1e308, maximum: -1e308 }, { type: 'integer', minimum: -(2 ** 63) }, { minimum: 'a' }],
  ...['^[', '^a{99999}$', `^${'('.repeat(20_000)}$`, '^(?=a)$', '^\\', '^a{2,1}$', '^[z-a]$', '^()*$', '\ud800'].map(
    (pattern) => ({ type: 'string', pattern }),
  ),
  ...[
    { required: 'a', properties: {} },
    { additionalProperties: 5 },
    { prefixItems: [5] },
    nested(80, { type: 'string' }),
  ],
];
export const triggers = [
  ...[[], [{}], [{ type: 9, value: 'a' }], [{ type: 0, value: 'a', token: -5 }], [{ type: 1, value: 'word' }]],
  ...['(', '(a+)+$', '('.repeat(30_000), '[z-a]', '(?=a)', '\\'].flatMap((value) => [
    [{ type: 2, value }],
    [{ type: 3, value }],
  ]),
];

export function someValue(random, depth = 0) {
  const kind = random(depth > 3 ? 4 : 8);
  if (kind === 0) return pick(random, texts);
  if (kind === 1) return pick(random, numbers);
  if (kind === 2) return pick(random, [true, false, null]);
  if (kind === 3) return `@@${pick(random, unquoted)}@@`;
  if (kind === 4) return pick(random, lists);
  if (kind === 5) return pick(random, [...objects, ...schemas]);
  if (kind === 6) return Array.from({ length: random(4) }, () => someValue(random, depth + 1));
  const names = ['role', 'content', 'text', 'type', 'id', 'stream', '__proto__', 'constructor'];
  return Object.fromEntries(
    Array.from({ length: random(5) }, () => [pick(random, names), someValue(random, depth + 1)]),
  );
}
