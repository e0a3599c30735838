/**
 * A saved session: llama.cpp's own sequence file and the checkpoints, both as the addon writes them (native/addon/context/Session.h),
 * then what they belong to (the label) and a footer. The file appears whole or not at all.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { appendFile, open, rename, rm } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import type { EffectiveContext } from '../../contract/engine';
import { ConcertinaError, messageOf } from '../../contract/errors';
import type { AdapterInUse } from '../../contract/lib/domains/adapters';
import { isBudget } from '../../contract/settings';
import { toCodedError } from './guards';
import type { RawAddon, RawCancellation, RawContext } from './raw';
import type { Stretch } from './types';

const magic = 'CNCTKV02';
/** of state, checkpoints and label in bytes, a checksum of them all, each 8 bytes, and the magic */
const footerBytes = 40;
const maxLabelBytes = 4096;
/** where llama.cpp's file says how many tokens it has, in 4 bytes: behind its magic and version */
const countAt = 8;

/** Whose file it is, and what it may be restored into. */
export interface SessionOwner {
  addon: RawAddon;
  raw: RawContext;
  label: string;
  nCtx: number;
}

/** Bytes written. */
export async function saveSession(
  { addon, raw, label }: SessionOwner,
  path: string,
  { from, to }: Stretch,
  cancellation: RawCancellation,
): Promise<number> {
  const part = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    const { state, checkpoints } = await raw.saveCells(part, from, to, cancellation);
    const text = Buffer.from(label);
    await appendFile(part, text);
    const covered = state + checkpoints + text.length;
    const checksum = await checksumOf(addon, part, covered, cancellation);
    if (checksum === 0n) throw new Error('it cannot be read back');
    const footer = Buffer.alloc(footerBytes);
    [state, checkpoints, text.length, checksum].forEach((value, at) => {
      footer.writeBigUInt64LE(BigInt(value), 8 * at);
    });
    footer.write(magic, footerBytes - magic.length);
    await appendFile(part, footer);
    await rename(part, path);
    return covered + footerBytes;
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    const known = toCodedError(error);
    if (known instanceof ConcertinaError && known.code !== 'storage-failed') throw known;
    const hint = 'Check the folder and the free space of the disk.';
    throw new ConcertinaError('storage-failed', msg`${{ path }} cannot be written`, hint, { cause: error });
  }
}

/** Tokens restored, behind the first `from` that the context has. What is refused here leaves the context as it was. */
export async function loadSession(
  { addon, raw, label, nCtx }: SessionOwner,
  path: string,
  from: number,
  cancellation: RawCancellation,
): Promise<number> {
  const { tokens, parts, checksum } = await readFrame(path, label);
  const covered = parts.state + parts.checkpoints + Buffer.byteLength(label);
  if ((await checksumOf(addon, path, covered, cancellation)) !== checksum) throw corrupt(path, 'its checksum is wrong');
  if (from + tokens > nCtx) {
    const message = `The session has ${from + tokens} tokens, the context holds ${nCtx}`;
    throw new ConcertinaError('context-full', message, msg`Choose a longer context.`);
  }
  return raw.restoreCells(path, parts, from, cancellation);
}

/** 0: the file is shorter, or cannot be read */
async function checksumOf(
  addon: RawAddon,
  path: string,
  bytes: number,
  cancellation: RawCancellation,
): Promise<bigint> {
  return BigInt(`0x${await addon.checksum(path, bytes, cancellation)}`);
}

/** What a file with this label says about itself in its first and last bytes. */
async function readFrame(path: string, label: string) {
  const file = await open(path, 'r').catch(() => {
    throw new ConcertinaError('not-found', msg`There is no session file ${{ path }}`);
  });
  try {
    const { size } = await file.stat();
    const read = async (at: number, bytes: number) => (await file.read(Buffer.alloc(bytes), 0, bytes, at)).buffer;
    if (size < footerBytes) throw new Error('it is not a saved session');
    const footer = await read(size - footerBytes, footerBytes);
    if (footer.toString('latin1', footerBytes - magic.length) !== magic)
      throw new Error('it is not a saved session, or it is cut short');
    const numbers = [0, 8, 16].map((at) => Number(footer.readBigUInt64LE(at)));
    const [state = 0, checkpoints = 0, labelBytes = 0] = numbers;
    if (labelBytes > maxLabelBytes || state + checkpoints + labelBytes + footerBytes !== size)
      throw new Error('its length is wrong');
    const saved = (await read(state + checkpoints, labelBytes)).toString();
    if (saved !== label) throw new Error(firstDifference(saved, label));
    // with images upstream's form of tokens stands there, which begins so: the addon looks at its length
    const media = (await read(countAt + 4, 4)).readInt32LE() === -1;
    const tokens = media ? 0 : (await read(countAt, 4)).readUInt32LE();
    return { tokens, parts: { state, checkpoints }, checksum: footer.readBigUInt64LE(24) };
  } catch (error) {
    throw corrupt(path, messageOf(error));
  } finally {
    await file.close();
  }
}

function corrupt(path: string, why: string): ConcertinaError {
  const hint = 'The text of the chat is not affected; it will be read again.';
  return new ConcertinaError('data-corrupt', `${path}: ${why}`, hint);
}

// The label: everything that must agree for cells to mean the same, one "name value" a line.

export function labelOf(addon: RawAddon, raw: RawContext, fingerprint: string): string {
  const { typeK, typeV, cacheLayers, rope, flashAttention, adapters }: EffectiveContext = raw.effective;
  const mixed = new Set(cacheLayers.map((layer) => `${layer.typeK}/${layer.typeV}`)).size > 1;
  const lines = [
    `model ${fingerprint}`,
    ...adapterLines(adapters),
    // what a budget became counts, not how it was named
    ...(isBudget(typeK.effective) || mixed
      ? ['K auto', 'V auto', `layers ${cacheLayers.map((layer) => `${layer.typeK}/${layer.typeV}`).join()}`]
      : [`K ${typeK.effective}`, `V ${typeV.effective}`]),
    `centred ${raw.centringHash}`,
    `RoPE ${rope.kind} ${Number(rope.factor.toPrecision(6))}`,
    `flash ${Number(flashAttention)}`,
  ];
  return `${lines.join('\n')}\n${addon.cellsMadeBy}`;
}

/** One of the scale 0 changes nothing. Where requests of the API may change scales, cells are of this context alone. */
function adapterLines(adapters: readonly AdapterInUse[]): string[] {
  const used = adapters.filter(({ scale, byOption }) => scale !== 0 || byOption);
  if (used.length === 0) return [];
  if (used.some(({ byOption }) => byOption)) return [`adapters ${randomUUID()}`];
  // they are added up
  const texts = used.map(({ fingerprint, scale }) => `${fingerprint}*${Number(scale.toPrecision(6))}`);
  return [`adapters ${texts.sort().join()}`];
}

export function parseLabel(label: string): Map<string, string> {
  const lines = label.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]));
}

/** of two that differ, as it stands in them */
function firstDifference(saved: string, here: string): string {
  const left = parseLabel(saved);
  const right = parseLabel(here);
  for (const name of new Set([...right.keys(), ...left.keys()])) {
    const [other, value] = [left.get(name) ?? '', right.get(name) ?? ''];
    if (other !== value) return `saved with "${name} ${other}", here is "${name} ${value}"`;
  }
  return 'it was saved by another version';
}

/** in the order in which a person can do something about it */
const reasons: [name: string, sentence: (saved: string, here: string) => string][] = [
  ['model', () => 'It was made with another model.'],
  ['adapters', () => 'It was made with other LoRA adapters, or with other scales of them.'],
  ['K', (saved, here) => `It was made with K in ${saved}; K is in ${here} now.`],
  ['V', (saved, here) => `It was made with V in ${saved}; V is in ${here} now.`],
  ['layers', otherLayers],
  ['RoPE', () => 'It was made with other positions (RoPE, or another stretched length).'],
  ['flash', () => 'It was made with flash attention switched the other way.'],
  ['llama.cpp', (saved, here) => `It was made with llama.cpp ${saved}; this version of the app has ${here}.`],
  ['centred', () => 'Its cache was centered with other measurements of the model, as for another length of context.'],
];

/** The first layer of another type, of two lists. */
function otherLayers(saved: string, here: string): string {
  const [left, right] = [saved.split(','), here.split(',')];
  const at = right.findIndex((types, i) => types !== left[i]);
  return `It was made with other types in its layers: K/V of layer ${at} is ${left[at] ?? 'not there'} in it and ${right[at]} here.`;
}

/** in words for a person; null: they agree */
export function differenceOf(saved: string, here: string): string | null {
  if (saved === here) return null;
  const [left, right] = [parseLabel(saved), parseLabel(here)];
  for (const [name, sentence] of reasons) {
    if (left.get(name) !== right.get(name)) return sentence(left.get(name) ?? '?', right.get(name) ?? '?');
  }
  return 'It was made by another version of the app.';
}
