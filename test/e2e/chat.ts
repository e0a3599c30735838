/** What a person does and sees in the window, in the words of the tests. Serves Electron and the browser alike. */
import { expect, type Locator, type Page } from '@playwright/test';
import type { OperationInput, OperationName, OperationOutput } from '@/electron/contract/contract';
import type { EngineStatus } from '@/electron/contract/engine';
import type { Envelope } from '@/electron/contract/rpc';
import type { SettingsPatch } from '@/electron/contract/settings';

/** Greedy, so that an answer is the same each time, and no longer than most tests need one. Alone it makes the tiny model repeat itself for ever now and then. */
export const greedy: SettingsPatch['sampling'] = { temperature: 0, seed: 1, repeatPenalty: 1.1, maxTokens: 48 };

/** Nearly uniform over the vocabulary: no answer repeats itself. With `held: { endless: true }` none ends by itself either. */
export const endless: SettingsPatch['sampling'] = { temperature: 5, topK: 0, topP: 1, minP: 0, seed: 1 };

export const questions = (page: Page): Locator => page.getByTestId('message-user');
export const answers = (page: Page): Locator => page.getByTestId('message-assistant');

/** The text of the last answer, without its figures and buttons; empty before the first words. */
export async function answerText(page: Page): Promise<string> {
  return (await answers(page).last().locator('.prose-c').allTextContents()).join('\n');
}

/** Sends what is written. The answer is on the screen then, and may be finished. */
export async function send(page: Page, text: string): Promise<void> {
  await page.getByTestId('composer').fill(text);
  await begin(page, () => page.getByTestId('send').click());
}

/** Does what asks for an answer, and waits until one is on the screen that was not the last one before. */
export async function begin(page: Page, act: () => Promise<void>): Promise<void> {
  const before = await lastAnswer(page);
  await act();
  await expect.poll(async () => [before, null].includes(await lastAnswer(page))).toBe(false);
}

/** Its id; null: there is none. */
function lastAnswer(page: Page): Promise<string | null> {
  return answers(page).evaluateAll((all) => all.at(-1)?.getAttribute('data-message-id') ?? null);
}

/** Asks and waits for the end of the answer. Returns the answer as shown. */
export async function ask(page: Page, text: string, timeout = 60_000): Promise<string> {
  const before = await answers(page).count();
  await send(page, text);
  await expect(answers(page)).toHaveCount(before + 1);
  await ended(page, timeout);
  return answerText(page);
}

/**
 * The last answer is stored with the reason of its end. Only behind `begin`, `send`, or a look at an answer that is being written:
 * before it is there, the one before it has ended too. The button that stops it comes later than it, and is no sign alone.
 */
export async function ended(page: Page, timeout = 60_000): Promise<void> {
  await expect(answers(page).last()).not.toHaveAttribute('data-state', 'writing', { timeout });
  await expect(page.getByTestId('stop')).toBeHidden({ timeout });
}

/** An answer that was stopped goes on, until it ends by itself. */
export async function goOn(page: Page, timeout = 60_000): Promise<void> {
  await page.getByTestId('continue').click();
  await expect(answers(page).last()).toHaveAttribute('data-state', /^(end-of-turn|max-tokens)$/, { timeout });
  await expect(page.getByTestId('stop')).toBeHidden({ timeout });
}

/** Some text of the answer being written is on the screen. */
export async function streaming(page: Page, characters = 40): Promise<void> {
  await expect.poll(async () => (await answerText(page)).length).toBeGreaterThan(characters);
}

/** Calls an operation as the page itself would (Electron only); a refusal is thrown. */
export async function call<N extends OperationName>(
  page: Page,
  name: N,
  input: OperationInput<N>,
): Promise<OperationOutput<N>> {
  const envelope = await page.evaluate<Envelope, [N, unknown]>(
    ([operation, value]) => (window as unknown as WindowWithApi).concertina.call(operation, value),
    [name, input],
  );
  if (!envelope.ok) throw new Error(`${name}: ${envelope.error.code}: ${envelope.error.message}`);
  return envelope.value as OperationOutput<N>;
}

interface WindowWithApi {
  concertina: { call(name: string, input: unknown): Promise<Envelope> };
}

export const status = (page: Page): Promise<EngineStatus> => call(page, 'engine.status', undefined);

/** The engine has a model and waits for a question, and the window hears keys: a busy machine draws it later than the model loads. */
export async function ready(page: Page, timeout = 60_000): Promise<EngineStatus> {
  await page.locator('#root:not(:empty)').waitFor({ timeout });
  let now = await status(page);
  await expect
    .poll(
      async () => {
        now = await status(page);
        return now.state;
      },
      { timeout },
    )
    .toBe('ready');
  return now;
}

/** The chat that was changed last, as it is stored. */
export async function newestChat(page: Page): Promise<OperationOutput<'chats.open'>> {
  const [summary] = await call(page, 'chats.list', undefined);
  return call(page, 'chats.open', { chatId: summary?.id ?? '' });
}

export async function kvBytesShown(page: Page): Promise<number> {
  return Number(await page.getByTestId('meter-kv-bytes').getAttribute('data-bytes'));
}
