// @vitest-environment happy-dom
/** An answer in the list: while it is written, when it was stopped, when it failed, and its figures. */
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Message, Summary, SummaryPart } from '@/electron/contract/chats';
import { leftText, shareDone } from '@/renderer/features/chat/AssistantMessage';
import { prefillOf } from '@/renderer/features/chat/LiveText';
import { MessageList } from '@/renderer/features/chat/MessageList';
import { readTokens, statsRows } from '@/renderer/features/chat/StatsLine';
import { selectChat } from '@/renderer/state/lib/openChat';
import { useApp } from '@/renderer/state/useApp';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { answerStats, liveStats, message } from '@/test/fixtures/samples';
import { holding, long } from '@/test/fixtures/services';

function OpenChat() {
  const chat = useApp(selectChat);
  return chat && <MessageList chat={chat} />;
}

const answer = () => screen.getByRole('article', { name: 'Answer' });
const button = (name: string) => within(answer()).queryByRole('button', { name });

/** A chat of a question and an answer that ended so. */
async function ended(change: Partial<Message>, question: Partial<Message> = {}) {
  return rendered(<OpenChat />, { start: false }, async ({ bridge, call, conversation, engineIs }) => {
    const { id: chatId } = await call('chats.create', { title: 'A chat' });
    const chat = await call('chats.open', { chatId });
    const messages = [
      message({ id: 'q', text: 'Why?', ...question }),
      message({ id: 'a', parentId: 'q', role: 'assistant', text: 'Because', ...change }),
    ];
    bridge.answer('chats.open', () => ({ ...chat, messages, leafId: 'a' }));
    engineIs();
    await conversation.open(chatId);
  });
}

// nothing is laid out here, and a list without a height has no rows
beforeEach(() => void vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600));

describe('an answer', () => {
  it('is shown as it comes, was stopped, and goes on where it is', async () => {
    const { engine, words } = holding();
    const { conversation, idle, get } = await rendered(<OpenChat />, { engine });
    conversation.setDraftText(long);
    await act(() => conversation.send());
    await waitFor(() => expect(answer().textContent).toContain('word word word'));
    expect(answer().dataset.state).toBe('writing');
    expect(button('Regenerate')).toBeNull();
    await act(async () => {
      await conversation.stop();
      await idle();
    });
    await waitFor(() => expect(answer().dataset.state).toBe('cancelled'));
    expect(button('Regenerate')).not.toBeNull();
    words.open();
    fireEvent.click(button('Continue') as HTMLElement);
    await waitFor(() => expect(get().conversation.chat?.messages[1]?.text).toBe(long));
    await waitFor(() => expect(answer().dataset.state).toBe('end-of-turn'));
    expect(button('Continue')).toBeNull();
  });

  it('that ended by itself says nothing of its end', async () => {
    await ended({ stopReason: 'end-of-turn' });
    expect(answer().textContent).toContain('Because');
    expect(within(answer()).queryByTestId('stop-reason')).toBeNull();
  });

  it('that failed says why, and leads to what helps', async () => {
    const error = { code: 'out-of-memory', message: 'Too large.', hint: 'Lower the context.' } as const;
    const { get } = await ended({ stopReason: 'error', error, text: '' });
    expect(answer().textContent).toContain('Too large. Lower the context.');
    expect(button('Continue')).toBeNull();
    fireEvent.click(button('Open settings') as HTMLElement);
    expect(get().ui.settingsOpen).toBe(true);
  });

  it('that the engine left in the middle can go on; one that was not begun can only be asked again', async () => {
    await ended({ stopReason: 'interrupted' });
    expect(button('Continue')).not.toBeNull();
    cleanup();
    await ended({ stopReason: 'interrupted', text: '' });
    expect(button('Continue')).toBeNull();
  });

  it('never blames the context for a limit of tokens', async () => {
    await ended({ stopReason: 'max-tokens', stats: answerStats });
    expect(within(answer()).getByTestId('stop-reason').textContent).not.toMatch(/context/i);
    expect(button('Open settings')).not.toBeNull();
  });

  it('that filled the context offers room', async () => {
    const { get } = await ended({ stopReason: 'context-full', stats: answerStats });
    fireEvent.click(screen.getByTestId('let-go'));
    await waitFor(() => expect(get().settings.saved?.overflow).toBe('roll'));
  });
});

describe('an answer of the built-in model', () => {
  const passages = [1, 2, 3, 4, 5].map((page) => ({ label: `Page ${page}`, start: page * 100, end: page * 100 + 80 }));
  const attachments = [{ documentId: 'd', name: 'manual.pdf', part: { kind: 'passages' as const, passages } }];
  const done = { stopReason: 'end-of-turn' } as const;
  const found = () => screen.queryByTestId('found-passages');

  it('has the passages beside it, each leading to its place, and the way to a real model', async () => {
    const { get } = await ended({ ...done, modelName: 'Tiny', text: 'The text does not say.' }, { attachments });
    await waitFor(() => expect(screen.getByTestId('found-nothing').textContent).toContain('may say it all the same'));
    const labels = () => [...(found()?.querySelectorAll('li') ?? [])].map((one) => one.textContent);
    await waitFor(() => expect(labels()).toEqual(passages.map(({ label }) => label)));
    fireEvent.click(screen.getByRole('button', { name: 'Page 2' }));
    expect(get().documents.panel).toMatchObject({ documentId: 'd' });
    fireEvent.click(screen.getByRole('button', { name: 'Get a real model' }));
    expect(get().ui.modelsTab).toBe('discover');
  });

  it('stays alone where none were looked up, and where another model wrote it', async () => {
    await ended({ ...done, modelName: 'Tiny' });
    expect([found(), screen.queryByTestId('bigger-model')]).toEqual([null, null]);
    cleanup();
    await ended({ ...done, modelName: 'Qwen3 4B' }, { attachments });
    expect([found(), screen.queryByTestId('bigger-model')]).toEqual([null, null]);
  });
});

describe('its figures', () => {
  const reported = { stats: answerStats, stopReason: 'end-of-turn', modelName: 'tiny', createdAt: 0 } as const;
  const rows = (change: object) =>
    statsRows({ ...reported, ...change }).map(({ label, value }) => `${label}: ${value}`);

  it('tell where each token of the prompt came from', () => {
    const stats = { ...answerStats, promptTokens: 4220, cachedTokens: 4000, restoredTokens: 3900, rereadTokens: 200 };
    const text = rows({ stats }).join('\n');
    for (const figure of ['4,220', '4,000', '3,900', '220', '200', '500']) expect(text).toContain(figure);
  });

  it('are none that nobody measured', () => {
    const short = { ...answerStats, answerTokens: 0, tokensPerSecond: 0, ttftMs: 0 };
    expect(rows({ stats: short }).join('\n')).not.toContain('tok/s at 0');
    expect(rows({ stats: short })).toHaveLength(rows({}).length - 1);
    expect(rows({ stats: null, modelName: '' })).toHaveLength(2);
  });

  it('count what was read of an answer that was stopped while reading', () => {
    expect(readTokens(answerStats)).toBe(100);
    const stopped = { ...answerStats, answerTokens: 0, contextUsed: 42 };
    expect(readTokens(stopped)).toBe(32);
    expect(readTokens({ ...stopped, contextUsed: 0 })).toBe(0);
  });

  it('of reading leave out what is in the cache already', () => {
    const reading = { ...liveStats, promptTokens: 110, cachedTokens: 10, prefillDone: 50, prefillMsLeft: 2600 };
    expect(prefillOf(reading)).toEqual({ done: 50, total: 100, share: 0.5, msLeft: 2600 });
    expect(prefillOf({ ...reading, cachedTokens: 110 })).toMatchObject({ total: 0, share: 0, msLeft: null });
  });
});

it('a summary is as far as its parts, and takes as long as they did', () => {
  const part = (label: string, ms: number | null): SummaryPart => ({
    ...{ label, text: '', ms, tokens: 1000 },
    source: { kind: 'document', attachment: { documentId: 'd', name: 'a.pdf', part: { kind: 'whole' } } },
  });
  const summary = (...parts: SummaryPart[]): Summary => ({ kind: 'summary', parts });
  expect(leftText(summary(part('Pages 1-24', null), part('Pages 25-48', null)))).toBeNull();
  const midway = summary(part('Pages 1-24', 20_000), part('Pages 25-48', null));
  expect(shareDone(midway)).toBe(0.5);
  // one part to read and one joining, 20 s each
  expect(leftText(midway)).toContain('40 s');
});
