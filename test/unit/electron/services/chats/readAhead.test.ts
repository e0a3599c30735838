/** Documents of the shelf that are read before anybody asks, and make way for who does. */
import { describe, expect, it, vi } from 'vitest';
import { shelfChatId } from '@/electron/contract/lib/shelf';
import type { ChatMessage, GenerateOptions } from '@/electron/engine/native/types';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { attach, setUpServices, waiting } from '@/test/fixtures/services';

async function start({ words = new Gate(), loadError }: { words?: Gate; loadError?: Error } = {}) {
  const prompts: { messages: ChatMessage[]; options: GenerateOptions }[] = [];
  const onPrompt = (messages: ChatMessage[], options: GenerateOptions) => prompts.push({ messages, options });
  const engine = createFakeEngine({ words, onPrompt, ...(loadError && { loadError }) });
  const base = await setUpServices({ engine, start: !loadError });
  if (loadError) base.services.engine.start();
  const { call, payloads } = base;
  const put = async (name: string, text: string) => {
    const { documentId } = await attach(call, name, text);
    await call('shelf.add', { documents: [{ documentId, name }] });
    return documentId;
  };
  const readings = () => call('shelf.readings', undefined);
  const states = async () => (await readings()).map(({ state }) => state);
  const stateIs = (...expected: string[]) => vi.waitFor(async () => expect(await states()).toEqual(expected), waiting);
  return { ...base, prompts, put, readings, states, stateIs, told: () => payloads('onShelfReadings') };
}

const block = '<document name="Notes.txt">\n[text]\nThe gate is green.\n</document>\n\n';

describe('a document that is read ahead', () => {
  it('is read as a chat with it would begin, for one token, and is kept for all of them', async () => {
    const { call, put, prompts, stateIs, told } = await start();
    await call('settings.update', { systemPrompt: 'Be kind.' });
    const documentId = await put('Notes.txt', 'The gate is green.');
    expect(await call('shelf.kept', undefined)).toEqual([]);
    await call('shelf.read', { documentId });
    await stateIs();
    expect(prompts).toMatchObject([
      {
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: block },
        ],
        options: { maxTokens: 1 },
      },
    ]);
    expect(told().map((list) => list.map(({ state }) => state))).toEqual([['waiting'], ['reading'], []]);
    expect(await call('shelf.kept', undefined)).toEqual([documentId]);
    expect(await call('chats.list', undefined)).toEqual([]);
  });

  it('makes way for a question, and goes on when that is answered', async () => {
    const words = new Gate().hold();
    const { call, put, send, final, stateIs, readings, prompts } = await start({ words });
    const documentId = await put('Notes.txt', 'The gate is green.');
    await call('shelf.read', { documentId });
    await words.reached();
    await stateIs('reading');
    const [before] = await readings();
    const { turn } = await send('one two three');
    await stateIs('paused');
    expect((await readings())[0]?.messageId).toBeNull();
    await vi.waitFor(() => expect(prompts).toHaveLength(2), waiting);
    expect(prompts[1]?.messages.at(-1)?.content).toBe('one two three');
    words.open();
    expect((await final(turn)).text).toBe('one two three');
    await stateIs();
    expect(prompts).toHaveLength(3);
    expect(prompts[2]?.messages).toEqual(prompts[0]?.messages);
    expect(before?.messageId).not.toBeNull();
    expect(await call('shelf.kept', undefined)).toEqual([documentId]);
  });

  it('waits for the one before it; each can be stopped', async () => {
    const words = new Gate().hold();
    const { call, put, stateIs, readings, prompts } = await start({ words });
    const [one, two, three] = [await put('1.txt', 'one'), await put('2.txt', 'two'), await put('3.txt', 'three')];
    for (const documentId of [one, two, three, one]) await call('shelf.read', { documentId });
    await words.reached();
    await stateIs('reading', 'waiting', 'waiting');
    await call('shelf.stopReading', { documentId: two });
    await stateIs('reading', 'waiting');
    // one that is taken off the shelf is not read any more
    await call('shelf.remove', { documentIds: [one] });
    await stateIs('reading');
    expect(await readings()).toMatchObject([{ documentId: three }]);
    words.open();
    await stateIs();
    expect(prompts.map(({ messages }) => messages.at(-1)?.content)).toEqual([
      expect.stringContaining('one'),
      expect.stringContaining('three'),
    ]);
    expect(await call('shelf.kept', undefined)).toEqual([three]);
  });

  it('says so when the model cannot keep what was read, until that is dismissed', async () => {
    const { call, put, stateIs, readings } = await start();
    // the fake context holds a few tokens of any prompt
    const documentId = await put('Long.txt', 'word '.repeat(500));
    await call('shelf.read', { documentId });
    await stateIs('failed');
    expect((await readings())[0]?.error).toMatchObject({ code: 'model-unsupported' });
    expect(await call('shelf.kept', undefined)).toEqual([]);
    await call('shelf.stopReading', { documentId });
    await stateIs();
  });

  it('is ended by another load, which it says', async () => {
    const words = new Gate().hold();
    const { call, put, stateIs, readings, addModel } = await start({ words });
    await call('shelf.read', { documentId: await put('Notes.txt', 'The gate is green.') });
    await words.reached();
    await call('models.select', { modelId: await addModel() });
    await stateIs('failed');
    expect((await readings())[0]?.error).toMatchObject({ code: 'cancelled' });
  });

  it('is refused when it is not on the shelf, and without a model that could read it', async () => {
    const { call, put, states, state } = await start({ loadError: new Error('no') });
    await state('failed');
    const documentId = await put('Notes.txt', 'The gate is green.');
    await expect(call('shelf.read', { documentId })).rejects.toMatchObject({ message: expect.any(String) });
    expect([await states(), await call('shelf.kept', undefined)]).toEqual([[], []]);
    const other = await start();
    const unknown = { documentId: 'f'.repeat(64) };
    await expect(other.call('shelf.read', unknown)).rejects.toMatchObject({ code: 'not-found' });
    expect(await other.states()).toEqual([]);
  });
});

it('what is kept of a document of the shelf stands under a name that no chat has', () => {
  expect(shelfChatId({ documentId: 'a'.repeat(64) })).toBe(`shelf-${'a'.repeat(64)}`);
});
