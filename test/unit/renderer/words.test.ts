/** What the window says, and when. */
import { describe, expect, it } from 'vitest';
import type { AnswerStats, Message } from '@/electron/contract/chats';
import type { Centring, LoadedContext } from '@/electron/contract/engine';
import { prefillOf, rateText } from '@/renderer/features/chat/LiveText';
import { readTokens } from '@/renderer/features/chat/StatsLine';
import { stopText } from '@/renderer/features/chat/StopNotice';
import { leavingText, noFitText, readingRate, staleText } from '@/renderer/features/composer/BudgetBar';
import { type SendFacts, sendBlock, statusText } from '@/renderer/features/composer/sendBlock';
import { bannerText } from '@/renderer/features/engine/bannerText';
import { attentionText, centringText, kernelLines, offloadText } from '@/renderer/features/meter/EngineMeter';
import { savedRatio, savedText } from '@/renderer/features/meter/memoryParts';
import { speedOf } from '@/renderer/features/meter/StatusStrip';
import { refusalText } from '@/renderer/features/models/AddModels';
import type { AppState } from '@/renderer/state/appState';
import { selectOffersLetGo } from '@/renderer/state/slices/budget';
import { waitsFor } from '@/renderer/state/slices/engine';
import { releasedText } from '@/renderer/ui/format';
import { documentInfo, loadedContext, promptBudget, readyStatus as ready } from '@/test/fixtures/samples';

const facts = { applying: false, recovered: false, refusal: null, modelName: 'Tiny' };
const oom = { code: 'out-of-memory', message: 'Too large.', hint: 'Lower the context.' } as const;

const ended: AnswerStats = {
  promptTokens: 110,
  cachedTokens: 10,
  restoredTokens: 0,
  rereadTokens: 0,
  parts: 1,
  answerTokens: 5,
  ttftMs: 300,
  promptTokensPerSecond: 500,
  tokensPerSecond: 20,
  contextUsed: 114,
  contextSize: 512,
  typeK: 'turbo4',
  typeV: 'turbo4',
  seed: 1,
};
/** Stopped after 32 of the 100 tokens that were to be read. */
const stoppedReading: AnswerStats = { ...ended, answerTokens: 0, ttftMs: 0, tokensPerSecond: 0, contextUsed: 42 };

describe('refusalText', () => {
  const error = { code: 'model-invalid', message: 'a.gguf is truncated', hint: 'Download it again.' } as const;
  it('names the file once, in whole sentences', () => {
    expect(refusalText({ name: 'a.gguf', error })).toBe('a.gguf: it is truncated. Download it again.');
    expect(refusalText({ name: 'a.gguf', error: { ...error, message: '/models/a.gguf is damaged' } })).toBe(
      'a.gguf: it is damaged. Download it again.',
    );
    expect(refusalText({ name: 'b.gguf', error: { ...error, message: 'Too new.', hint: '' } })).toBe(
      'b.gguf: Too new.',
    );
  });
});

describe('an answer that was stopped while reading', () => {
  it('counts what was read', () => {
    expect(readTokens(ended)).toBe(100);
    expect(readTokens(stoppedReading)).toBe(32);
    expect(readTokens({ ...stoppedReading, contextUsed: 0 })).toBe(0);
  });

  it('has no figures of speed', () =>
    expect(speedOf(null, stoppedReading)).toMatchObject({ now: null, ttftMs: null, promptRate: null }));

  it('leaves none of the answer before to the one that begins', () =>
    expect(speedOf(null, ended, true)).toMatchObject({ now: null, ttftMs: null, promptRate: null, past: false }));
});

describe('bannerText', () => {
  it('is silent when the engine is ready or at work', () => {
    expect(bannerText(null, facts)).toBeNull();
    expect(bannerText(ready, facts)).toBeNull();
    expect(bannerText({ ...ready, state: 'generating' }, facts)).toBeNull();
  });

  it('tells a failed load with the way out that fits its cause', () => {
    expect(bannerText({ ...ready, state: 'failed', error: oom }, facts)).toMatchObject({
      tone: 'bad',
      title: 'Too large.',
      body: 'Lower the context.',
      actions: ['memory', 'settings', 'embedded', 'again'],
    });
    const missing = { code: 'model-missing', message: 'Gone.', hint: '' } as const;
    expect(bannerText({ ...ready, state: 'failed', error: missing }, facts)?.actions).toContain('models');
    expect(bannerText({ ...ready, state: 'failed' }, facts)?.title).toBe('Tiny could not be loaded.');
  });

  it('tells a reload by settings from the load of a model', () => {
    expect(bannerText({ ...ready, state: 'loading' }, facts)?.title).toBe('Loading Tiny');
    expect(bannerText({ ...ready, state: 'loading' }, { ...facts, applying: true })?.title).toMatch(/^Reloading/);
  });

  it('tells an engine that does not answer, whatever it was doing, and offers to restart it', () => {
    for (const state of ['starting', 'loading', 'generating'] as const) {
      const text = bannerText({ ...ready, state, stalled: 'silent' }, { ...facts, recovered: true });
      expect(text).toMatchObject({ tone: 'warn', title: expect.stringMatching(/not answered/), actions: ['restart'] });
    }
    expect(bannerText({ ...ready, stalled: 'stop' }, facts)?.body).toMatch(/kept/);
  });

  it('tells that another model could not be had, and which one is in use', () => {
    const refusal = { modelId: 'large', error: oom };
    expect(bannerText(ready, { ...facts, refusal })).toMatchObject({
      ...{ tone: 'bad', title: 'Too large.', body: 'Lower the context. Tiny is still in use.', closable: true },
      actions: ['memory', 'models', 'again'],
    });
    // while it is loaded again, that is what is told
    expect(bannerText({ ...ready, state: 'loading' }, { ...facts, refusal })?.title).toBe('Loading Tiny');
  });

  it('says after a crash that the answer was kept, until it is closed', () => {
    expect(bannerText({ ...ready, state: 'restarting' }, facts)?.body).toMatch(/kept/);
    expect(bannerText({ ...ready, state: 'loading' }, { ...facts, recovered: true })?.title).toMatch(/stopped/);
    expect(bannerText({ ...ready, state: 'restarting', error: oom }, facts)).toMatchObject({
      title: 'Too large.',
      body: 'Lower the context.',
      actions: ['again'],
    });
    expect(bannerText(ready, { ...facts, recovered: true })).toMatchObject({ closable: true, tone: 'warn' });
  });
});

describe('leaving out the oldest messages', () => {
  const message = { id: 'a', stopReason: 'end-of-turn' } as Message;
  function stateWith(change: { leaveOut?: boolean; last?: Message }): AppState {
    const remedies = { leaveOut: change.leaveOut ?? true, newChat: false };
    return {
      budget: { key: '', budget: promptBudget({ fits: false, over: 50, remedies }), error: null },
      conversation: { chat: { messages: [change.last ?? message], leafId: 'a' } },
    } as unknown as AppState;
  }

  it('is offered once: by the last answer where that ended for want of room, else by the composer', () => {
    expect(selectOffersLetGo(stateWith({}))).toBe(true);
    expect(selectOffersLetGo(stateWith({ last: { ...message, stopReason: 'context-full' } }))).toBe(false);
  });

  it('is offered only where it would do', () => {
    expect(selectOffersLetGo(stateWith({ leaveOut: false }))).toBe(false);
    const fitting = { ...stateWith({}), budget: { key: '', budget: promptBudget(), error: null } };
    expect(selectOffersLetGo(fitting)).toBe(false);
  });
});

describe('sendBlock', () => {
  const open: SendFacts = {
    connection: 'open',
    engine: 'ready',
    empty: false,
    sending: false,
    documents: [],
    fits: true,
    unfilled: null,
  };

  it('lets a question through while the engine is ready or writes for another chat', () => {
    expect(sendBlock(open)).toBeNull();
    expect(sendBlock({ ...open, engine: 'generating' })).toBeNull();
    expect(sendBlock({ ...open, fits: null })).toBeNull();
  });

  it('says what leaves the prompt only of a question that can be sent', () => {
    const text = leavingText(promptBudget({ leftOut: 2 }), 0);
    expect(text).toBe('The 2 oldest messages will be left out.');
    expect(statusText(sendBlock(open), null, text)).toBe(text);
    expect(statusText(sendBlock({ ...open, empty: true }), null, text)).toBeNull();
    expect(statusText(sendBlock(open), 'The model is loading.', text)).toBe('The model is loading.');
    expect(statusText(sendBlock({ ...open, sending: true }), null, text)).toBe('Sending');
    expect(statusText(null, null, null)).toBeNull();
  });

  it('tells the price of passages that leave, with the time where the speed is known', () => {
    expect(leavingText(promptBudget(), 350)).toBeNull();
    const one = promptBudget({ released: 1, readAgain: 5312 });
    const leaves = 'To make room, the passages of an earlier question will leave the prompt; the words stay.';
    expect(leavingText(one, 350)).toBe(`${leaves} About 5,312 tokens are read again, 16 s.`);
    expect(leavingText(one, 0)).toBe(`${leaves} About 5,312 tokens are read again.`);
    expect(leavingText(promptBudget({ released: 3, leftOut: 1, readAgain: 9 }), 0)).toBe(
      'To make room, the passages of 3 earlier questions will leave the prompt; the words stay. ' +
        'The oldest message will be left out. About 9 tokens are read again.',
    );
    expect(releasedText(2, 'left')).toMatch(/^To make room, the passages of 2 earlier questions left the prompt\. /);
    // the speed of the answer that had the most to read: 100 tokens
    expect(
      readingRate([{ stats: { ...ended, cachedTokens: 109, promptTokensPerSecond: 9000 } }, { stats: ended }]),
    ).toBe(500);
    expect(readingRate([{ stats: null }])).toBe(0);
  });

  it('figures are only being counted where a model counts', () => {
    expect(staleText('ready')).toBe('Being counted again.');
    expect(staleText('loading')).toBe('Counted again when the model is loaded.');
    for (const state of ['empty', 'failed', 'unavailable'] as const)
      expect(staleText(state)).toBe('Load a model to count again.');
  });

  it('refuses what does not fit; the offers stand above', () =>
    expect(sendBlock({ ...open, fits: false })).toEqual({
      reason: 'This does not fit into the context',
      action: null,
    }));

  it('says of what does not fit what is too long, and how much', () => {
    const byDocument = [
      { documentId: 'd0', tokens: 99_000, inBranch: true },
      { documentId: 'd1', tokens: 100, inBranch: false },
      { documentId: 'd2', tokens: 92_055, inBranch: false },
    ];
    const documents = [
      { name: 'small.txt', info: documentInfo({ id: 'd1' }) },
      { name: 'R-intro.pdf', info: documentInfo({ id: 'd2' }) },
    ];
    const long = promptBudget({ documents: 92_155, byDocument });
    expect(noFitText(long, documents)).toBe(
      'R-intro.pdf is about 11 times as long as the context of 8,192 tokens. Nothing is cut: pick one.',
    );
    const twice = byDocument.map((one) => ({ ...one, tokens: Math.min(one.tokens, 12_000) }));
    expect(noFitText(promptBudget({ documents: 12_100, byDocument: twice }), documents)).toMatch(
      /about 1\.5 times as long/,
    );
    const words = promptBudget({ history: 7200, message: 95, template: 5 });
    expect(noFitText(words, [])).toBe(
      '7,300 tokens are 132 too many for the context of 8,192, of which 1,024 are kept for the answer. Nothing is cut: pick one.',
    );
    const full = promptBudget({
      history: 6985,
      fits: false,
      unfilled: 'a.pdf',
      remedies: { leaveOut: false, newChat: true },
    });
    expect(noFitText(full, [])).toBe(
      'This chat is full: no room is left for passages of a.pdf. 7,000 of 8,192 tokens are taken, and 1,024 are kept for the answer.',
    );
    expect(noFitText({ ...full, remedies: { leaveOut: false, newChat: false } }, [])).toMatch(
      /^This question is too long/,
    );
  });

  it('refuses a question that no passage has room beside, before it is sent', () => {
    const reason = 'No room is left for passages of a.pdf';
    expect(sendBlock({ ...open, fits: false, unfilled: 'a.pdf' })).toEqual({ reason, action: null });
  });

  it('waits for documents, and never leaves one out in silence', () => {
    const ready = { name: 'a.pdf', info: documentInfo(), error: null, part: { kind: 'whole' } } as const;
    const reading = { ...ready, name: 'b.pdf', info: null };
    const failed = { ...reading, name: 'c.pdf', error: { code: 'document-invalid', message: 'x', hint: '' } } as const;
    const none = { ...ready, part: { kind: 'sections' as const, sections: [] } };
    const reason = (...documents: SendFacts['documents']) => sendBlock({ ...open, documents })?.reason;
    expect(reason(ready)).toBeUndefined();
    expect(reason(ready, reading)).toBe('b.pdf is still being read');
    expect(reason(reading, reading)).toBe('2 documents are being read');
    expect(reason(ready, failed)).toBe('c.pdf could not be read: remove it, or try again');
    expect(reason(none)).toBe('Nothing of a.pdf is chosen: choose something, or remove it');
    expect(sendBlock({ ...open, empty: true, documents: [ready] })?.reason).toBe('Write a question about the text');
  });

  it.each(['empty', 'failed', 'unavailable', null] as const)('gives a reason when %s', (engine) => {
    expect(sendBlock({ ...open, engine })?.reason).toBeTruthy();
  });

  it.each(['starting', 'loading', 'restarting'] as const)(
    'takes a question when %s, and says that it waits',
    (engine) => {
      expect(sendBlock({ ...open, engine, fits: null })).toBeNull();
      expect(waitsFor(engine)).toMatch(/waits/);
      expect(waitsFor('ready')).toBeNull();
    },
  );

  it('gives a reason without a connection', () =>
    expect(sendBlock({ ...open, connection: 'lost' })?.reason).toBe('Not connected'));
});

describe('stopText', () => {
  const answer = { stopReason: null, stats: null, error: null } as unknown as Message;

  it('has no words for a normal end', () => {
    for (const stopReason of [null, 'end-of-turn', 'stop-string'] as const)
      expect(stopText({ ...answer, stopReason })).toBeNull();
  });

  it('never blames the context for a reached limit', () => {
    expect(JSON.stringify(stopText({ ...answer, stopReason: 'max-tokens' }))).not.toMatch(/context/i);
  });

  it('says that a partial answer was kept, and what an error means', () => {
    expect(stopText({ ...answer, text: '', thinking: '', stopReason: 'interrupted' })?.hint).toBe('');
    expect(stopText({ ...answer, text: 'Half of', stopReason: 'interrupted' })).toMatchObject({
      hint: 'The partial answer was kept.',
      action: 'again',
      goesOn: true,
    });
    expect(stopText({ ...answer, text: '', thinking: '', stopReason: 'error', error: oom })).toEqual({
      title: 'Too large.',
      hint: 'Lower the context.',
      action: 'settings',
      goesOn: false,
    });
  });
});

describe('the strip', () => {
  it('names where layers lie and attention runs', () => {
    const context = loadedContext;
    expect(offloadText(context)).toBe('0/9');
    expect(attentionText(context)).toBe('CPU');
    const [place] = context.attention;
    const attention = place ? [place, { ...place, backend: 'Metal', window: true, layers: 20 }] : [];
    expect(attentionText({ ...context, attention })).toBe('CPU (8 layers), Metal (20 sliding-window layers)');
    expect(attentionText({ ...context, attention: [] })).toBe('');
  });

  it('names the attention kernel of each backend and depth, and what chose it', () => {
    const kernels = [
      { backend: 'Metal', from: 0, name: 'signed table', why: 'Apple10: measured' },
      { backend: 'Metal', from: 8192, name: 'magnitude table', why: 'self-test' },
      { backend: 'CPU', from: 0, name: 'cpu-neon', why: 'the best of this processor' },
    ];
    expect(kernelLines({ ...loadedContext, kernels })).toEqual([
      { name: 'Metal attention from 0', text: 'signed table', why: 'Apple10: measured' },
      { name: 'Metal attention from 8K', text: 'magnitude table', why: 'self-test' },
      { name: 'CPU attention', text: 'cpu-neon', why: 'the best of this processor' },
    ]);
  });

  it('says whether the turbo caches are centred, and why not', () => {
    const context = (typeK: string, typeV: string, centring: Partial<Centring>): LoadedContext => ({
      ...loadedContext,
      typeK: { asked: typeK, effective: typeK, reason: '' },
      typeV: { asked: typeV, effective: typeV, reason: '' },
      centring: { k: true, v: true, reasonK: '', reasonV: '', ...centring },
    });
    const no = 'only turbo types are centred';
    expect(centringText(context('turbo4', 'turbo3', {}))).toBe('on');
    expect(centringText(context('f16', 'q8_0', { k: false, v: false, reasonK: no, reasonV: no }))).toBe('');
    expect(centringText(context('q8_0', 'turbo4_64', { k: false, reasonK: no }))).toBe('V on');
    const capped = { k: false, reasonK: 'the scores are capped' };
    expect(centringText(context('turbo4', 'turbo4', capped))).toBe('V on, K off: the scores are capped');
    const sinks = { k: false, v: false, reasonK: 'sinks', reasonV: 'sinks' };
    expect(centringText(context('turbo4', 'turbo4', sinks))).toBe('off: sinks');
  });

  it('says how much smaller the cache is', () => {
    expect(savedRatio({ kvK: 5, kvV: 5, kvF16: 40 })).toBe(4);
    expect(savedRatio({ kvK: 0, kvV: 0, kvF16: 0 })).toBeNaN();
    expect(savedText({ kvK: 5, kvV: 5, kvF16: 40 })).toBe('4.00× smaller');
    expect(savedText({ kvK: 20, kvV: 20, kvF16: 40 })).toBe('unfolded');
  });

  it('shows the figures of the running answer, else of the last one', () => {
    expect(speedOf(null, null)).toMatchObject({ now: null, past: true });
    expect(speedOf(null, ended)).toMatchObject({ now: 20, ttftMs: 300, promptRate: 500, past: true });
    const live = {
      phase: 'prefill',
      promptTokens: 110,
      cachedTokens: 10,
      prefillDone: 50,
      promptTokensPerSecond: 25,
      promptTokensPerSecondNow: 20,
      prefillMsLeft: 2600,
      ttftMs: null,
      answerTokens: 0,
      tokensPerSecondNow: 0,
      tokensPerSecondAverage: 0,
      contextUsed: 60,
      contextSize: 512,
    } as const;
    expect(speedOf(live, null)).toMatchObject({ now: null, promptShare: 0.5, past: false });
    expect(prefillOf(live)).toEqual({ done: 50, total: 100, share: 0.5, msLeft: 2600 });
    expect(prefillOf({ ...live, cachedTokens: 110 })).toMatchObject({ total: 0, share: 0, msLeft: null });
    expect(rateText(live)).toBe('20.0 tok/s, 10 already in the cache');
    expect(rateText({ ...live, promptTokensPerSecondNow: 0 })).toBe('10 already in the cache');
    expect(rateText({ ...live, cachedTokens: 0, promptTokensPerSecondNow: 0 })).toBe('');
  });
});
