/** What goes out of a log line before it may be sent, and what stays so that it is still of use. */
import { expect, it } from 'vitest';
import { privateFactsOf, redact } from '../../../../../electron/main/services/redact';

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
])('%s', (text, expected) => expect(clean(text)).toBe(expected));

it.each([
  "llama_turbo_apply: K cache type turbo4 -> q8_0: the model's K projection has a bias",
  'Disabled by the self-test on this GPU: kernel_turbo_attention_dk192_dv128_q8 (squared error 1).',
  'llama_context: n_ctx_seq (8192) < n_ctx_train (131072) -- the full capacity of the model will not be utilized',
  'CPU compute buffer size of  24.3125 MiB, does not match expectation of  24.0000 MiB',
  'and/or 12 tok/s',
])('leaves alone: %s', (text) => expect(clean(text)).toBe(text));
