import { expect, test } from 'vitest';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { fitText } from '@/electron/server/answerTexts';
import { plan } from '@/test/fixtures/samples';

const GiB = 2 ** 30;
const context = contextSettingsSchema.parse({ nCtx: 32_768, typeK: 'q8_0', typeV: 'turbo4' });

test('parts, memories and longest contexts, each once', () => {
  const estimate = { ...plan, weights: 4 * GiB, kvK: GiB, kvV: GiB / 2, kvF16: 4 * GiB, compute: GiB / 4 };
  const mark = (type: 'q8_0' | 'turbo4' | 'f16', nCtx: number) => ({
    ...{ typeK: type, typeV: type, effectiveK: type, effectiveV: type, nCtx },
    bytes: nCtx * 65_536,
  });
  const text = fitText(
    { path: '/models/big.gguf', context },
    {
      estimate: { ...estimate, typeV: { asked: 'turbo4', effective: 'q8_0', reason: 'head_dim is 80' } },
      fits: false,
      budgets: [{ kind: 'ram', name: 'RAM', needed: 5.75 * GiB, available: 5 * GiB, total: 8 * GiB }],
      trained: 131_072,
      marks: [mark('q8_0', 16_384), mark('f16', 0), mark('q8_0', 16_384), mark('turbo4', 65_536)],
    },
  );
  expect(text).toBe(`big.gguf, trained for 131072 tokens

A context of 32768 tokens, K turbo4, V q8_0
V: head_dim is 80
  weights          4.0 GiB
  KV cache         1.5 GiB       4.0 GiB as f16
  compute buffers  256 MiB       with recurrent state, where there is any
  together         5.8 GiB
  RAM              does not fit  5.8 GiB needed, 5.0 GiB free for it, 8.0 GiB in all

The longest contexts that fit now
  K       V       tokens  together
  q8_0    q8_0    16384   1.0 GiB
  f16     f16     none
  turbo4  turbo4  65536   4.0 GiB`);
});
