/** What is shown of a foreign file's texts; test/unit/electron/engine/native/inspect.test.ts holds the engine to the same cases. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shownText } from '@/electron/contract/errors';
import { readHeaderFacts } from '@/electron/services/hub/ggufHeader';
import { writeGguf } from '@/test/engine/gguf';
import { shownCases } from '@/test/fixtures/shownText';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('a header gives experts, sliding window, the template as it is and, in short, where it comes from', async () => {
  const file = join(await temporaryFolder(), 'a.gguf');
  const template = '{{ "\u202e" }}'.repeat(2000);
  const metadata = {
    'general.architecture': 'gemma3',
    'general.author': 'Someone',
    'general.license.link': `https://${'l'.repeat(5000)}`,
    'general.base_model.0.name': 'Gemma 3',
    'gemma3.expert_count': 64,
    'gemma3.expert_used_count': 4,
    'gemma3.attention.sliding_window': 1024,
    // longer than what is read at first
    'tokenizer.ggml.token_type': Array.from({ length: 400_000 }, () => 1),
    'tokenizer.chat_template': template,
  };
  writeGguf(file, metadata, [{ name: 'a', shape: [32] }]);
  expect(await readHeaderFacts(file)).toEqual({
    slidingWindow: 1024,
    experts: { count: 64, used: 4 },
    author: 'Someone',
    licenseLink: `https://${'l'.repeat(192)}`,
    baseModel: 'Gemma 3',
    template: { text: template.slice(0, 20_000), length: template.length },
  });
});

test('a plain model has none of it; what is no model is refused', async () => {
  const folder = await temporaryFolder();
  writeGguf(join(folder, 'a.gguf'), { 'general.architecture': 'llama', 'llama.expert_count': 0 }, []);
  const none = { slidingWindow: null, experts: null, template: null };
  expect(await readHeaderFacts(join(folder, 'a.gguf'))).toMatchObject(none);
  await writeFile(join(folder, 'b.gguf'), 'no model at all');
  await expect(readHeaderFacts(join(folder, 'b.gguf'))).rejects.toMatchObject({ code: 'model-invalid' });
});

test.each(shownCases)('$why', async ({ bytes, shown }) => {
  expect(shownText(bytes.toString('utf8'))).toBe(shown);
  const file = join(await temporaryFolder(), 'a.gguf');
  const value = Buffer.concat([Buffer.from([8, 0, 0, 0]), length(bytes), bytes]);
  writeGguf(file, { 'general.architecture': 'llama', 'general.author': value }, []);
  expect((await readHeaderFacts(file)).author).toBe(shown || null);
});

function length(bytes: Buffer): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(bytes.length));
  return buffer;
}
