/**
 * The header of a GGUF file for the hub: how much of a file must be read before the engine can say what the model takes, whether a
 * file that was downloaded is one at all, and what is shown of it beside what the engine says.
 */

import { open } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, shownText } from '../../contract/errors';
import { bytesPerToken } from '../../contract/lib/forecast';
import { GgufError, GgufHeader, readHeader } from '../../contract/lib/gguf';
import type { ModelDetails } from '../../contract/models';

export interface HeaderEnd {
  /** where the weights begin */
  dataStart: number;
  tensors: number;
  /** where the last of the weights begins, from `dataStart` */
  lastOffset: number;
}

/** null: more bytes are needed. Throws `model-invalid` for what is no GGUF file. */
export function readGgufHeader(data: Buffer): HeaderEnd | null {
  try {
    const { dataStart, tensors } = new GgufHeader(data);
    if (dataStart === null) return null;
    const lastOffset = tensors.reduce((last, { offset }) => Math.max(last, offset), 0);
    return { dataStart, tensors: tensors.length, lastOffset };
  } catch (error) {
    throw error instanceof GgufError ? invalid(error.message) : error;
  }
}

/** Throws `model-invalid` when a file of `bytes` bytes cannot hold what its header tells. */
export function requireRoom({ dataStart, tensors, lastOffset }: HeaderEnd, bytes: number): void {
  if (tensors > 0 && dataStart + lastOffset >= bytes) throw invalid('it is shorter than its header says');
}

function invalid(why: string): ConcertinaError {
  return new ConcertinaError(
    'model-invalid',
    msg`This GGUF file cannot be read: ${{ why }}.`,
    msg`Choose another file.`,
  );
}

const maxTemplate = 20_000;

/** What the header of a model file says and the engine does not say. Nothing is loaded. */
export type HeaderFacts = Omit<ModelDetails, 'sha256' | 'context'>;

/** Throws `model-invalid` for what is no GGUF file. */
export async function readHeaderFacts(path: string): Promise<HeaderFacts> {
  return factsOf((await headerOf(path)).header);
}

/** Bytes of weights that are read for one token. `paths`: all parts of the model, in order. null: not to be told. */
export async function readBytesPerToken(paths: readonly string[]): Promise<number | null> {
  return bytesPerToken(await Promise.all(paths.map(headerOf)));
}

async function headerOf(path: string): Promise<{ header: GgufHeader; bytes: number }> {
  const handle = await open(path, 'r');
  try {
    return { header: await readHeader(handle), bytes: (await handle.stat()).size };
  } catch (error) {
    throw error instanceof GgufError ? invalid(error.message) : error;
  } finally {
    await handle.close();
  }
}

function factsOf(header: GgufHeader): HeaderFacts {
  const text = (key: string) => shownText(header.text(key) ?? '') || null;
  const architecture = header.text('general.architecture');
  const number = (key: string) => {
    const value = header.number(`${architecture}.${key}`);
    return value !== null && value > 0 ? value : null;
  };
  const count = number('expert_count');
  const template = header.text('tokenizer.chat_template');
  return {
    slidingWindow: number('attention.sliding_window'),
    experts: count === null ? null : { count, used: number('expert_used_count') },
    author: text('general.author') ?? text('general.organization'),
    licenseLink: text('general.license.link') ?? text('general.license.name'),
    baseModel: text('general.base_model.0.name'),
    template: template === null ? null : { text: template.slice(0, maxTemplate), length: template.length },
  };
}
