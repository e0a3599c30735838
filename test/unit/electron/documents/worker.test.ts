/** The bundle as the app runs it: one CommonJS file in a worker thread, with nothing beside it but the character maps. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { bundleForNode } from '../../../../electron/build.mjs';
import { runExtraction } from '../../../../electron/main/services/documents/extraction';
import { makeDocx, paragraph } from '../../../fixtures/documents/docx';
import { makePdf } from '../../../fixtures/documents/pdf';
import { temporaryFolder } from '../../../fixtures/temporary';

const cMapFolder = resolve('node_modules/pdfjs-dist/cmaps');
const bundle = resolve('build/test-bundles/documents.cjs');

beforeAll(async () => {
  await mkdir('build/test-bundles', { recursive: true });
  await bundleForNode('documents', 'electron/documents/main.ts', 'build/test-bundles');
}, 120_000);

async function run(kind: 'pdf' | 'docx', content: Buffer, stopAt = 2) {
  const folder = await temporaryFolder();
  const path = join(folder, `file.${kind}`);
  const textPath = join(folder, 'text.txt');
  await writeFile(path, content);
  const stop = new AbortController();
  const extraction = await runExtraction(
    { path, name: 'file', kind, textPath, cMapFolder },
    {
      workerFile: bundle,
      signal: stop.signal,
      onProgress: (fraction) => {
        if (fraction >= stopAt) stop.abort();
      },
    },
  );
  return { extraction, text: await readFile(textPath, 'utf8') };
}

it('reads documents', async () => {
  const lines = ['Words on a page.'];
  expect((await run('pdf', makePdf([{ lines }, { lines: ['\u4e66'] }], { chinese: true }))).text).toContain('\u4e66');
  const { extraction, text } = await run('docx', makeDocx([paragraph('Head', 'Heading 1'), paragraph('Body')]));
  expect(text).toBe('Head\n\nBody');
  expect(extraction.sections).toHaveLength(1);
}, 60_000);

it('is ended in the middle of a long one', async () => {
  const pages = Array.from({ length: 2000 }, () => ({ lines: ['Words on a page.', 'And more of them.'] }));
  await expect(run('pdf', makePdf(pages), 0.01)).rejects.toMatchObject({ code: 'cancelled' });
}, 60_000);

it('needs no package and no other file', async () => {
  const required = [...(await readFile(bundle, 'utf8')).matchAll(/\brequire\("([^"]+)"\)/g)].map(
    ([, name = '']) => name,
  );
  const foreign = required.filter((name) => !builtinModules.includes(name.replace(/^node:/, '')));
  expect(required.length).toBeGreaterThan(3);
  expect(foreign).toEqual([]);
});
