/** Answers of the commands for people. */
import { sizeText } from '../contract/bytes';
import type { HubModelPage, HubPage } from '../contract/hub';
import type { ModelEntry, ModelInfo } from '../contract/models';
import { table } from './estimate';

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
  return [table(rows), ...(next === null ? [] : ['  There are more: use more words.'])].join('\n');
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
  return [[repo, ...facts.filter(Boolean)].join(', '), table(rows), ...leftOut].join('\n');
}

export function listText(models: readonly ModelEntry[]): string {
  const rows = models.map(({ fileName, fileBytes, location, problem }) => [
    fileName,
    sizeText(fileBytes),
    location,
    problem ?? '',
  ]);
  return table(rows);
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
    'trained for': info.nCtxTrain > 0 ? `${info.nCtxTrain} tokens` : 'not told',
    'chat template': info.hasChatTemplate ? 'yes' : 'no',
    license: info.license ?? 'not told',
  });
  return table(rows.map(([name, value]) => [name, String(value)]));
}
