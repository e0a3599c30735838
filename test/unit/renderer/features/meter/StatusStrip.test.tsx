// @vitest-environment happy-dom
/** The strip: what the engine does, how fast, how full, and whether anything is not as it was set. */
import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { Centering, LiveStats } from '@/electron/contract/engine';
import { unknownPower } from '@/electron/contract/machine';
import { attentionText, centeringText, kernelLines } from '@/renderer/features/meter/EngineMeter';
import { savedRatio } from '@/renderer/features/meter/memoryParts';
import { powerHint, StatusStrip, sparklinePoints, speedOf } from '@/renderer/features/meter/StatusStrip';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { answerStats, download, liveStats, loadedContext } from '@/test/fixtures/samples';
import { holding, long } from '@/test/fixtures/services';

const meter = (name: string) => screen.getByTestId(`meter-${name}`);

describe('the strip', () => {
  it('has the figures of the answer that is written, then those of the last one', async () => {
    const { engine, words } = holding();
    const { conversation, idle, get } = await rendered(<StatusStrip />, { engine });
    expect(meter('toks').dataset.toks).toBe('');
    expect(meter('context').dataset).toMatchObject({ used: '0', size: '8192' });
    conversation.setDraftText(long);
    await act(() => conversation.send());
    await screen.findByText('Writing');
    expect(meter('state').dataset.state).toBe('generating');
    await act(async () => {
      words.open();
      await idle();
    });
    await screen.findByText('Ready');
    expect(Number(meter('toks').dataset.toks)).toBe(get().stream.last?.stats.tokensPerSecond);
    expect(Number(meter('context').dataset.used)).toBeGreaterThan(1000);
  });

  it('is about the open chat alone: what the cache holds of another one stands in the pop-up', async () => {
    const { engine, words } = holding();
    const { conversation, ask, get } = await rendered(<StatusStrip />, { engine });
    words.open();
    await act(() => ask('one two three'));
    const first = get().conversation.chat?.id ?? '';
    const used = get().engine.status?.contextUsed ?? 0;
    await screen.findByText('Ready');
    expect(meter('context').textContent).toMatch(new RegExp(`${used} read`));
    expect(meter('toks').dataset.toks).not.toBe('');
    expect(Number(meter('sparkline').dataset.values)).toBeGreaterThan(0);
    act(() => conversation.startNew());
    expect(meter('context').textContent).toMatch(/^0 read/);
    expect([meter('toks').dataset.toks, meter('ttft').dataset.ttft, meter('sparkline').dataset.values]).toEqual([
      '',
      '',
      '0',
    ]);
    await act(async () => fireEvent.click(meter('memory')));
    expect(screen.getByText(/which hold another chat/).textContent).toContain(`the share of ${used} of`);
    await act(() => ask('four five six seven'));
    expect(screen.queryByText(/which hold another chat/)).toBeNull();
    expect(meter('context').textContent).toMatch(/\d read/);
    await act(() => conversation.open(first));
    expect(meter('context').textContent).toMatch(/^not read yet/);
    expect(meter('context').dataset.used).toBe('');
  });

  it('says what goes on before the first word: the chat before is put aside, this one comes back, or is read', async () => {
    const { bridge, engineIs } = await rendered(<StatusStrip />, { start: false });
    act(() => engineIs({ state: 'generating' }));
    const frame = (phase: LiveStats['phase']) => ({
      ...{ requestId: 'r', chatId: 'c', messageId: 'm', text: '', thinking: '' },
      stats: { ...liveStats, phase },
    });
    for (const [phase, word] of [
      ['saving', 'Saving'],
      ['restoring', 'Restoring'],
      ['prefill', 'Reading'],
      ['decode', 'Writing'],
    ] as const) {
      act(() => bridge.emit('onStream', frame(phase)));
      expect(meter('state').textContent).toBe(word);
    }
  });

  it('says that nobody answers, what is downloaded, and what runs otherwise than set', async () => {
    const { actions, bridge, engineIs } = await rendered(<StatusStrip />, { start: false });
    const typeV = { asked: 'turbo3', effective: 'q8_0', reason: 'The heads are odd.' };
    act(() => engineIs());
    const before = Number(meter('engine').dataset.fallbacks);
    act(() => engineIs({ context: { ...loadedContext, typeV } }));
    expect(Number(meter('engine').dataset.fallbacks)).toBe(before + 1);
    expect(meter('types').dataset).toMatchObject({ typeK: 'turbo4', typeV: 'q8_0' });
    expect(screen.queryByTestId('meter-downloads')).toBeNull();
    act(() => bridge.emit('onDownloads', [download({ state: 'active', done: 250 })]));
    expect(meter('downloads').dataset.share).toBe('0.250');
    act(() => actions.engine.receiveConnection({ phase: 'lost', retryAt: null }));
    expect(meter('state').textContent).toBe('Offline');
  });
});

describe('speed', () => {
  it('is that of the running answer, else of the last one, and unknown of one that was stopped while reading or begins', () => {
    expect(speedOf(null, null)).toMatchObject({ now: null, past: true });
    expect(speedOf(null, answerStats)).toMatchObject({ now: 20, ttftMs: 300, promptRate: 500, past: true });
    const reading = { ...liveStats, phase: 'prefill', promptTokens: 110, cachedTokens: 10, prefillDone: 50 } as const;
    expect(speedOf(reading, null)).toMatchObject({ now: null, promptShare: 0.5, past: false });
    const none = { now: null, ttftMs: null, promptRate: null };
    expect(speedOf(null, { ...answerStats, answerTokens: 0 })).toMatchObject(none);
    expect(speedOf(null, answerStats, true)).toMatchObject({ ...none, past: false });
  });

  it('is drawn from edge to edge, the fastest at the top', () => {
    expect(sparklinePoints([], 56, 14)).toBe('');
    expect(sparklinePoints([0, 0], 56, 14)).toBe('');
    expect(sparklinePoints([5], 56, 14)).toBe('0,1 56,1');
    expect(sparklinePoints([0, 5, 10], 56, 14)).toBe('0,13 28,7 56,1');
  });
});

it('heat and power are mentioned only when they matter and are known, and amber when they slow answers down', () => {
  expect(powerHint(unknownPower)).toBeNull();
  expect(powerHint({ thermal: 'nominal', speedLimit: 100, onBattery: false })).toBeNull();
  expect(powerHint({ thermal: 'fair', speedLimit: null, onBattery: false })).toBeNull();
  expect(powerHint({ thermal: 'fair', speedLimit: null, onBattery: true })?.slow).toBe(false);
  const hint = (...[thermal, speedLimit]: ['nominal' | 'serious', number | null]) =>
    powerHint({ thermal, speedLimit, onBattery: true });
  expect(hint('nominal', 70)).toMatchObject({ slow: true, text: expect.stringContaining('70%') });
  expect(hint('serious', 50)).toMatchObject({ slow: true, title: expect.stringContaining('50%') });
  expect(hint('serious', null)?.title).not.toContain('%');
});

describe('the engine', () => {
  it('names where attention runs, with the layers only where there are several places', () => {
    expect(attentionText(loadedContext)).toBe('CPU');
    const [place] = loadedContext.attention;
    const attention = place ? [place, { ...place, backend: 'Metal', window: true, layers: 20 }] : [];
    expect(attentionText({ ...loadedContext, attention })).toMatch(/CPU \(8 .*Metal \(20 /);
    expect(attentionText({ ...loadedContext, attention: [] })).toBe('');
  });

  it('names the kernel of each backend, with its depth only where that changes it', () => {
    const kernel = { backend: 'Metal', from: 0, name: 'signed table', why: 'measured' };
    const kernels = [kernel, { ...kernel, from: 8192, name: 'magnitude table' }, { ...kernel, backend: 'CPU' }];
    const names = kernelLines({ ...loadedContext, kernels }).map(({ name, text }) => `${name}: ${text}`);
    expect(names).toEqual([
      expect.stringMatching(/^Metal.* 0: signed table$/),
      expect.stringMatching(/^Metal.* 8K: magnitude table$/),
      expect.stringMatching(/^CPU[^\d]*: signed table$/),
    ]);
  });

  it('shows which sides are centered, of turbo types alone, and why one is not', () => {
    const text = (typeK: string, typeV: string, centring: Partial<Centering>) =>
      centeringText({
        ...loadedContext,
        typeK: { asked: typeK, effective: typeK, reason: '' },
        typeV: { asked: typeV, effective: typeV, reason: '' },
        centring: { k: true, v: true, reasonK: '', reasonV: '', blocks: true, reasonBlocks: '', ...centring },
      });
    expect(text('f16', 'q8_0', { k: false, v: false, reasonK: 'no', reasonV: 'no' })).toBe('');
    expect(text('turbo4', 'turbo3', {})).not.toMatch(/K|V/);
    const constant = { blocks: false, reasonBlocks: 'a GPU' };
    expect(text('turbo4', 'turbo3', constant)).toMatch(/K.*constant.*a GPU$/);
    expect(text('q8_0', 'turbo4', { ...constant, k: false, reasonK: 'not turbo' })).not.toMatch(/constant/);
    expect(text('q8_0', 'turbo4_64', { k: false, reasonK: 'not turbo' })).toMatch(/^V(?!.*K)(?!.*not turbo)/);
    expect(text('turbo4', 'turbo4', { k: false, reasonK: 'capped' })).toMatch(/V.*K.*capped/);
    expect(text('turbo4', 'turbo4', { k: false, v: false, reasonK: 'sinks', reasonV: 'sinks' })).toMatch(/sinks$/);
  });

  it('shows how many recent tokens are at 8 bits, or why none are', async () => {
    const { engineIs } = await rendered(<StatusStrip />, { start: false });
    const withRecent = (tokens: number, reason = '') =>
      act(() => engineIs({ context: { ...loadedContext, recent: { asked: 2048, tokens, reason } } }));
    const row = () => screen.queryByText('Recent tokens at 8 bits')?.nextElementSibling?.textContent;
    withRecent(2048);
    await act(async () => fireEvent.click(meter('engine')));
    expect(row()).toBe('2,048');
    withRecent(0, 'a GPU takes part');
    expect(row()).toBe('0a GPU takes part');
    withRecent(0);
    expect(row()).toBeUndefined();
  });

  it('saves as much as f16 would take more', () => {
    expect(savedRatio({ kvK: 5, kvV: 5, kvF16: 40 })).toBe(4);
    expect(savedRatio({ kvK: 0, kvV: 0, kvF16: 0 })).toBeNaN();
  });
});
