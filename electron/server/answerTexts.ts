/** Answers of the commands for people. */

import { basename } from 'node:path';
import { sizeText } from '../contract/errors';
import { placementText } from '../contract/fallbacks';
import { type ContextFit, requestedLength } from '../contract/fit';
import type { Download, HubModelPage, HubPage } from '../contract/hub';
import { allocatedBytes, draftBytes, projectorBytes } from '../contract/lib/memory';
import type { ModelEntry, ModelInfo } from '../contract/models';
import type { ContextSettings } from '../contract/settings';
import { columns } from './commandLine';

export interface EstimateQuestion {
  path: string;
  context: ContextSettings;
}

export function fitText(
  { path, context }: EstimateQuestion,
  { auto, estimate, placement, devices = [], budgets, trained, marks }: ContextFit,
): string {
  const { weights, kvK, kvV, kvF16, compute, draft, projector, promptCache, typeK, typeV, speculation } = estimate;
  const reasons = [
    typeK.reason && `K: ${typeK.reason}`,
    typeV.reason && `V: ${typeV.reason}`,
    speculation.reason && `Drafting: ${speculation.reason}`,
  ].filter(Boolean);
  const parts = [
    ['weights', sizeText(weights)],
    ['KV cache', sizeText(kvK + kvV), kvF16 > kvK + kvV ? `${sizeText(kvF16)} as f16` : ''],
    ['compute buffers', sizeText(compute), 'with recurrent state, where there is any'],
    ...(draftBytes(draft) > 0
      ? [
          [
            'drafting',
            sizeText(draftBytes(draft)),
            `weights ${sizeText(draft.weights)}, KV cache ${sizeText(draft.kv)}, buffers ${sizeText(draft.compute)}`,
          ],
        ]
      : []),
    ...(projectorBytes(projector) > 0
      ? [
          [
            'images and sound',
            sizeText(projectorBytes(projector)),
            `weights ${sizeText(projector.weights)}, buffers ${sizeText(projector.compute)}`,
          ],
        ]
      : []),
    ['together', sizeText(allocatedBytes(estimate))],
    ...(promptCache > 0 ? [['prompt cache', `up to ${sizeText(promptCache)}`, 'what requests leave behind']] : []),
  ];
  const verdicts = budgets.map(({ name, needed, available, total }) => [
    name,
    needed <= available ? 'fits' : 'does not fit',
    `${sizeText(needed)} needed, ${sizeText(available)} free for it, ${sizeText(total)} in all`,
  ]);
  const places = devices.map(({ name, weights, context: cache, compute: buffers }) => [
    name,
    `weights ${sizeText(weights)}`,
    `KV cache ${sizeText(cache)}, buffers ${sizeText(buffers)}`,
  ]);
  const lengths = marks.map(({ effectiveK, effectiveV, nCtx, bytes }) => [
    effectiveK,
    effectiveV,
    nCtx > 0 ? String(nCtx) : 'none',
    nCtx > 0 ? sizeText(bytes) : '',
  ]);
  return [
    `${basename(path)}, trained for ${trained > 0 ? `${trained} tokens` : 'a length that it does not say'}`,
    `\nA context of ${auto ? `${auto.nCtx} tokens (auto)` : `${requestedLength(context, trained)} tokens`}, K ${typeK.effective}, V ${typeV.effective}`,
    ...reasons,
    columns([...parts, ...verdicts]),
    ...(placement ? [`\n${placementText(placement)}`] : []),
    ...(places.length > 1 ? [columns(places)] : []),
    '\nThe longest contexts that fit now',
    columns([['K', 'V', 'tokens', 'together'], ...distinct(lengths)]),
  ].join('\n');
}

/** The asked pair comes first, and again among the usual ones. */
function distinct(rows: string[][]): string[][] {
  return rows.filter((row, index) => rows.findIndex((other) => other.join() === row.join()) === index);
}

export function pageText({ models, next }: HubPage): string {
  if (models.length === 0) return 'No GGUF model has these words in its name.';
  const rows = models.map(({ repo, downloads, likes, updatedAt, license, gated }) => [
    repo,
    `${downloads} downloads`,
    `${likes} likes`,
    updatedAt?.slice(0, 10) ?? '',
    license ?? '',
    gated === 'open' ? '' : 'gated',
  ]);
  return [columns(rows), ...(next === null ? [] : ['  There are more: use more words.'])].join('\n');
}

export function fileText({ repo, license, gated, architecture, trained, quants, refused }: HubModelPage): string {
  const facts = [
    architecture,
    trained ? `trained for ${trained} tokens` : null,
    license,
    gated === 'open' ? null : 'gated',
  ];
  const rows = quants.flatMap(({ quant, files }) =>
    files.map(({ file, bytes, parts, kind }) => [
      quant ?? '',
      sizeText(bytes),
      file,
      ...[parts.length > 1 ? `${parts.length} parts` : '', kind === 'model' ? '' : kind],
    ]),
  );
  const leftOut = refused.map(({ file, why }) => `  left out: ${file}. ${why}`);
  return [[repo, ...facts.filter(Boolean)].join(', '), columns(rows), ...leftOut].join('\n');
}

export function listText(models: readonly ModelEntry[]): string {
  const rows = models.map(({ fileName, fileBytes, location, problem }) => [
    fileName,
    sizeText(fileBytes),
    location,
    problem ? `${problem.message} ${problem.hint}`.trim() : '',
  ]);
  return columns(rows);
}

export function infoText(info: ModelInfo): string {
  const rows = Object.entries({
    name: info.name,
    architecture: info.architecture,
    parameters: info.parameters,
    quantization: info.quantization,
    size: sizeText(info.fileBytes),
    layers: info.layers,
    'attention heads': `${info.headCount}, for K and V ${info.headCountKv}`,
    'head size': `K ${info.headDimK}, V ${info.headDimV}`,
    'trained for': info.nCtxTrain > 0 ? `${info.nCtxTrain} tokens` : 'not stated',
    'chat template': info.hasChatTemplate ? 'yes' : 'no',
    license: info.license ?? 'not stated',
  });
  return columns(rows.map(([name, value]) => [name, String(value)]));
}

export function progressText({ title, state, done, bytes, speed, secondsLeft, error }: Download): string {
  const share = bytes === 0 ? 100 : Math.floor((done / bytes) * 100);
  const parts = [`${title}: ${share} % of ${sizeText(bytes)}`];
  if (state === 'active') {
    if (speed > 0) parts.push(`${sizeText(speed)}/s`);
    if (secondsLeft !== null) parts.push(`${timeText(secondsLeft)} left`);
  } else parts.push(state);
  if (error) parts.push(error.message);
  return parts.join(', ');
}

function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
