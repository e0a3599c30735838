/** What goes out of a log line before it may be sent, and what stays so that it is still of use. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { privateFactsOf, redact } from '@/electron/services/machine/redact';

const facts = privateFactsOf(
  { USER: 'marthe', HOME: '/home/marthe', MY_API_KEY: 'quiet-lagoon', LANG: 'de_DE.UTF-8', SHORT_TOKEN: 'abc' },
  ['You are Marthe’s lawyer.\nHello\nThe case is Brandt against Oduya.'],
);
const clean = (text: string) => redact(text, facts);

it.each([
  ['failed to open /home/marthe/models/secret-7b.gguf: no such file', 'failed to open <path>: no such file'],
  ["cannot read '/Volumes/My Disk/a b.gguf' now", "cannot read '<path>' now"],
  ['in C:\\Users\\marthe\\x.gguf:', 'in <path>:'],
  ['\\\\server\\share\\x.gguf', '<path>'],
  ['see ~/notes/diary.txt', 'see <path>'],
  [
    'private-finetune.gguf is of a kind that this version cannot run',
    '<file> is of a kind that this version cannot run',
  ],
  ['models/private/x.bin', '<path>'],
  ['by Marthe on the desk', 'by <name> on the desk'],
  ['the value quiet-lagoon was used', 'the value <private> was used'],
  ['prompt: The case is Brandt against Oduya.', 'prompt: <private>'],
  ['Authorization: Bearer abc', 'Authorization: <secret> <secret>'],
  ['HF_TOKEN=hf_short', 'HF_TOKEN=<secret>'],
  ['used sk-proj-abcdefgh1234', 'used <secret>'],
  ['hash 9f86d081884c7d659a2feaa0c55ad015', 'hash <secret>'],
  ['from https://user:pass@example.org/x?y=1', 'from <address>'],
  ['mail a.b@example.org, host 10.0.0.7', 'mail <address>, host <address>'],
  ['unexpected "something a person wrote here"', 'unexpected "<text>"'],
  ['it said “something a person wrote here” and ‘more of what a person wrote’', 'it said “<text>” and ‘<text>’'],
  ['in a-b/c.d/e.json:7', 'in <path>:7'],
  ['a+b@example.org+c@example.com', '<address>'],
  ['config=token=abc', 'config=token=<secret>'],
])('%s', (text, expected) => expect(clean(text)).toBe(expected));

it.each([
  "llama_turbo_apply: K cache type turbo4 -> q8_0: the model's K projection has a bias",
  'Disabled by the self-test on this GPU: kernel_turbo_attention_dk192_dv128_q8 (squared error 1).',
  'llama_context: n_ctx_seq (8192) < n_ctx_train (131072) -- the full capacity of the model will not be utilized',
  'CPU compute buffer size of  24.3125 MiB, does not match expectation of  24.0000 MiB',
  'and/or 12 tok/s',
])('leaves alone: %s', (text) => expect(clean(text)).toBe(text));

it('takes out each line of a secret that has several', () => {
  const facts = privateFactsOf({ SSH_PRIVATE_KEY: 'BEGIN lagoon\nquiet harbour\nEND' });
  expect(redact('it was quiet harbour, then BEGIN lagoon', facts)).toBe('it was <private>, then <private>');
});

describe('a line that is too long', () => {
  const words = 'word '.repeat(390);
  const cut = (text: string) => expect(redact(text, facts).replace(/(word ?)+/, ''));

  it('is cut between words and says so; the lines beside it are not', () => {
    const text = `first\n${'word '.repeat(80_000)}\nlast`;
    const [first, long, last] = redact(text, facts).split('\n');
    expect([first, last]).toEqual(['first', 'last']);
    expect(long).toMatch(/^(word )+… \(cut: 400000 characters\)$/);
    expect(long?.length).toBeLessThan(2050);
  });

  it.each([
    // 1,950 characters, then what the cut at 2,000 would halve
    ['a private text', `The case is Brandt against Oduya. ${'x'.repeat(100)}`],
    ['a word', `${'y'.repeat(100)} end`],
    ['an address', `somebody-with-a-long-name-of-forty-eight-characters@example.org end`],
    ['a quoted text', `"and this goes on and on ${'for long '.repeat(20)}" end`],
    ['a quoted path', `'/Volumes/My Disk/${'my things '.repeat(20)}' end`],
    ['a path', `/home/somebody/${'deep/'.repeat(20)} end`],
  ])('shows no part of %s that the cut would halve', (_, rest) => {
    cut(`${words}${rest}`).toMatch(/^(<private>|"<text>|'<path>|<path>)? ?… \(cut: \d+ characters\)$/);
  });

  it('keeps a private text that lies across the cut private, also when it has blanks', () => {
    const line = `${'w'.repeat(10)} ${'word '.repeat(395)}The case is Brandt against Oduya.${' more'.repeat(9)}`;
    expect(redact(line, facts)).not.toContain('Brandt');
    expect(redact(line, facts)).not.toContain('The case');
  });
});

/**
 * Names in files can have any length, and the diagnostics are made while the window waits. Linear work on 400,000 characters
 * takes below 0.3 s here, and 2 s where four other programs want the same core; work that grows with the square of the length
 * takes minutes (150 s for the cheapest of the old expressions, unloaded). The limit lies thirty times above the slowest that was
 * seen, so that no slow machine reaches it, and what is not linear is ended there instead of holding the whole run.
 */
describe('the work grows with the length of a line, not with its square', { timeout: 120_000 }, () => {
  const limitMs = 60_000;
  const length = 400_000;
  const inTime = <T>(work: () => T): T => runInNewContext('work()', { work }, { timeout: limitMs });

  it.each([
    ...[
      'a',
      'a.',
      'a-',
      '.',
      '-a',
      '@a',
      'a@',
      'a@a',
      'key',
      'key-',
      'key ',
      'key=',
      'a/',
      'a/a.',
      '/',
      '~/',
      '\\',
      '..',
    ],
    ...[
      '"',
      '"/',
      '“',
      '“/',
      '‘a',
      '`',
      '1.',
      'a1',
      'A',
      '=',
      'bearer ',
      'bearer',
      'sk-',
      'C:\\',
      '://',
      'a:/',
      '<',
      'é',
      ' ',
    ],
    ...['.gguf', 'a.gguf/', 'hf_', '\t', ':', ',', '(a', 'quiet-', 'marthe', 'Marthe '],
  ])('%j again and again', (piece) => {
    const line = piece.repeat(Math.ceil(length / piece.length));
    // uncut: each expression by itself must be linear, so that a longer limit never brings the trouble back
    expect(typeof inTime(() => redact(`${line} end`, facts, Number.POSITIVE_INFINITY))).toBe('string');
  });

  it('a name of 400,000 letters, as the diagnostics get it', () => {
    const clean = inTime(() => redact(`loading ${'x'.repeat(length)} failed`, facts));
    expect(clean).toBe('loading … (cut: 400015 characters)');
  });
});
