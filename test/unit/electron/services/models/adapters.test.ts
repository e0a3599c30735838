/** LoRA adapters in the list of models, and how settings name them. */
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ModelList } from '@/electron/services/models/modelFiles';
import { ModelLibrary } from '@/electron/services/models/modelLibrary';
import { put } from '@/test/fixtures/modelTrees';
import { modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

const facts = { rank: 8, alpha: 16, base: 'Tiny' };

test('a folder brings adapters, whatever they are named; what else is no model stays out', async () => {
  const folder = await temporaryFolder();
  const models = join(folder, 'models');
  for (const name of [
    'tiny.gguf',
    'tuned-LoRA-f16.gguf',
    'adapter_model.gguf',
    'plain.gguf',
    'mmproj.gguf',
    'imatrix.gguf',
  ])
    await put(join(models, name), 'GGUF');
  const added = new ModelList(join(folder, 'models.json'));
  await added.load();
  const inspect = async (path: string) => ({ ...modelInfo, adapter: /tiny|plain/.test(path) ? null : facts });
  const library = new ModelLibrary({ embeddedFolder: join(folder, 'app'), added, inspector: { inspect } });
  await library.add([models]);
  const adapters = await vi.waitFor(async () => {
    const entries = await library.list();
    expect(entries.map(({ fileName, info }) => [fileName, info?.adapter])).toEqual([
      ['adapter_model.gguf', facts],
      ['plain.gguf', null],
      ['tiny.gguf', null],
      ['tuned-LoRA-f16.gguf', facts],
    ]);
    return entries;
  });

  const path = join(models, 'tuned-LoRA-f16.gguf');
  const id = adapters.at(-1)?.id ?? '';
  const named = [id, 'tuned-lora-f16', path, 'nothing'].map((model) => ({ model, scale: 0.5 }));
  const { adapters: found } = await library.withFiles(join(models, 'tiny.gguf'), { adapters: named });
  // what is not there is for the engine to refuse
  expect(found).toEqual([path, path, path, 'nothing'].map((model) => ({ model, scale: 0.5 })));
});
