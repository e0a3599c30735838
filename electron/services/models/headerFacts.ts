/** What the header of a model file says and the engine does not tell. Nothing is loaded. */
import { open } from 'node:fs/promises';
import type { ModelDetails } from '../../contract/models';
import { type GgufValue, readGgufHeader } from '../hub/ggufHeader';

/** The vocabulary makes a header some megabytes long. */
const firstBytes = 1024 * 1024;
const maxBytes = 128 * 1024 * 1024;
const maxTemplate = 20_000;

export type HeaderFacts = Omit<ModelDetails, 'sha256' | 'context'>;

/** Throws `model-invalid` for what is no GGUF file. */
export async function readHeaderFacts(path: string): Promise<HeaderFacts> {
  const handle = await open(path, 'r');
  try {
    for (let length = firstBytes; ; length *= 4) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
      const values = new Map<string, GgufValue>();
      const header = readGgufHeader(buffer.subarray(0, bytesRead), (key, value) => values.set(key, value));
      if (header || bytesRead < length || length >= maxBytes) return factsOf(values);
    }
  } finally {
    await handle.close();
  }
}

function factsOf(values: ReadonlyMap<string, GgufValue>): HeaderFacts {
  const text = (key: string) => {
    const value = values.get(key);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const number = (key: string) => {
    const value = values.get(`${text('general.architecture')}.${key}`);
    return typeof value === 'number' && value > 0 ? value : null;
  };
  const count = number('expert_count');
  const template = values.get('tokenizer.chat_template');
  return {
    slidingWindow: number('attention.sliding_window'),
    experts: count === null ? null : { count, used: number('expert_used_count') },
    author: text('general.author') ?? text('general.organization'),
    licenseLink: text('general.license.link') ?? text('general.license.name'),
    baseModel: text('general.base_model.0.name'),
    template: typeof template === 'string' ? { text: template.slice(0, maxTemplate), length: template.length } : null,
  };
}
