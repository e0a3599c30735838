/** What is shown of a foreign file's texts; test/engine/headers.test.ts holds the engine to the same cases. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHeaderFacts, shownText } from '@/electron/services/hub/ggufHeader';
import { writeGguf } from '@/test/engine/gguf';
import { shownCases } from '@/test/fixtures/shownText';
import { temporaryFolder } from '@/test/fixtures/temporary';

test.each(shownCases)('$why', async ({ bytes, shown }) => {
  expect(shownText(bytes.toString('utf8'))).toBe(shown);
  const file = join(await temporaryFolder(), 'a.gguf');
  const value = Buffer.concat([Buffer.from([8, 0, 0, 0]), length(bytes), bytes]);
  writeGguf(file, { 'general.architecture': 'llama', 'general.author': value }, []);
  expect((await readHeaderFacts(file)).author).toBe(shown || null);
});

test('a text of a file that is shown is short, whatever else the header holds, and a template is whole', async () => {
  const file = join(await temporaryFolder(), 'a.gguf');
  await writeFile(file, '');
  const template = '{{ "\u202e" }}'.repeat(50);
  writeGguf(
    file,
    { 'general.architecture': 'llama', 'general.license.link': 'l'.repeat(5000), 'tokenizer.chat_template': template },
    [],
  );
  const facts = await readHeaderFacts(file);
  expect(facts.licenseLink).toBe('l'.repeat(200));
  expect(facts.template?.text).toBe(template);
});

function length(bytes: Buffer): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(bytes.length));
  return buffer;
}
