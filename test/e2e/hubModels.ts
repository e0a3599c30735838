/** What the test hub has for the window: a model that can be chatted with, and larger ones of which only the header is real. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { dense, f32, headNorms, q4_0, writeShape } from '../engine/shapeParts';
import type { RepoSpec } from '../fixtures/hub/repos';
import { tinyModel } from './app';

export const tinyRepo = 'concertina/tiny-GGUF';
export const tinyFile = 'concertina-tiny-Q8_0.gguf';
export const largeRepo = 'Qwen/Qwen3-14B-GGUF';
export const wideRepo = 'somebody/wide-70B-GGUF';

const q8_0 = 8;
const f16 = 1;

/** The shape of Qwen3 14B, in files that are holes; the header alone is real. */
function fourteenBillion(folder: string, quant: string, type: number): string {
  const place = path.join(folder, quant);
  mkdirSync(place, { recursive: true });
  const sizes = { layers: 40, embd: 5120, heads: 40, headsKv: 8, headDim: 128, ff: 17_408, vocab: 151_936, type };
  return writeShape(
    place,
    dense(`Qwen3 14B ${quant}`, 'qwen3', sizes, (layer) => headNorms(layer, 128)),
  );
}

export const trainedContext = 131_072;

/** Its cache takes a megabyte a token at f16: no usual machine holds its trained length. Its weights are a hole. */
export function writeLargeModel(folder: string): string {
  const sizes = { layers: 64, embd: 64, heads: 32, headsKv: 32, headDim: 128, ff: 64, type: f32 };
  return writeShape(folder, dense('Wide 70B', 'llama', sizes));
}

const readme = `---
license: apache-2.0
---
# Qwen3 14B

![logo](https://example.com/logo.png)

Dense model with **switchable thinking**, in GGUF for llama.cpp. Read [the announcement](https://example.com/).

| Quant | Use |
| --- | --- |
| Q4_0 | small machines |
| Q8_0 | close to the original |

<script>document.title = 'spoiled'</script>

- 40 layers, 40 heads, 8 of them for K and V
- trained for 131,072 tokens
`;

/** `folder`: where the files are made; they are holes and take no room. */
export function hubModels(folder: string): RepoSpec[] {
  mkdirSync(folder, { recursive: true });
  const gguf = (total: number, architecture: string, context_length: number) => ({
    total,
    architecture,
    context_length,
  });
  return [
    {
      id: largeRepo,
      files: {
        'Qwen3-14B-Q4_0.gguf': fourteenBillion(folder, 'Q4_0', q4_0),
        'Qwen3-14B-Q8_0.gguf': fourteenBillion(folder, 'Q8_0', q8_0),
        'Qwen3-14B-F16.gguf': fourteenBillion(folder, 'F16', f16),
        'Qwen3-14B-F32.gguf': fourteenBillion(folder, 'F32', f32),
      },
      readme,
      license: 'apache-2.0',
      downloads: 412_000,
      likes: 1830,
      lastModified: '2026-05-21T09:00:00.000Z',
      gguf: gguf(14.8e9, 'qwen3', 131_072),
    },
    { id: wideRepo, files: { 'wide-70b-F32.gguf': writeLargeModel(folder) }, downloads: 310, likes: 7 },
    {
      id: tinyRepo,
      files: { [tinyFile]: tinyModel },
      downloads: 1200,
      likes: 12,
      gguf: gguf(28.3e6, 'qwen3', 8192),
    },
    {
      id: 'somebody/gated-and-very-long-name-of-a-model-that-goes-on-27B-Instruct-abliterated-GGUF',
      files: { 'gated-Q4_K_M.gguf': tinyModel },
      gated: 'manual',
      license: 'llama3.3',
      downloads: 90_500,
      likes: 44,
    },
  ];
}
