/** What the desktop says when something long has ended while nobody looks, and shows while something long is read. */
import type { ElectronApplication } from '@playwright/test';
import { expect } from '@playwright/test';
import { shareApp, test } from '../app';
import { call, ended, greedy, send } from '../chat';

interface Caught {
  caught: { title: string; body: string; click: () => void }[];
  flashes: boolean[];
}

/** Nobody looks at the window from now on, and what the system would be told is kept. */
async function lookAway(app: ElectronApplication, supported: boolean): Promise<void> {
  await app.evaluate(({ BrowserWindow, Notification }, can) => {
    const kept: Caught = { caught: [], flashes: [] };
    Object.assign(globalThis, kept);
    BrowserWindow.getFocusedWindow = () => null;
    BrowserWindow.prototype.flashFrame = (on) => void kept.flashes.push(on);
    Notification.isSupported = () => can;
    Notification.prototype.show = function show() {
      const { title, body } = this;
      kept.caught.push({ title, body, click: () => this.emit('click', {} as never) });
    };
  }, supported);
}

const caught = (app: ElectronApplication) =>
  app.evaluate(() => {
    const { caught: all, flashes } = globalThis as unknown as Caught;
    return { all: all.map(({ title, body }) => ({ title, body })), flashes };
  });

/** For the main process. */
const passTime = (app: ElectronApplication, ms: number) =>
  app.evaluate((_electron, more) => {
    const real = Date.now;
    Date.now = () => real() + more;
  }, ms);

const shared = shareApp({ settings: { sampling: { ...greedy, maxTokens: 20 } }, held: {} });

test('a long answer is told of when nobody looks, and a click brings its chat', async () => {
  const { app, page } = await shared.window();
  const gates = shared.gates();
  await lookAway(app, true);
  await send(page, 'What is a compiler?');
  await ended(page);
  expect((await caught(app)).all).toEqual([]);
  gates.pieces.hold(2);
  await send(page, 'And an interpreter?');
  await gates.pieces.reached();
  await page.getByTestId('new-chat').click();
  await expect(page.getByTestId('message-user')).toHaveCount(0);
  await passTime(app, 30_000);
  gates.pieces.open();
  await expect
    .poll(() => caught(app))
    .toEqual({
      all: [{ title: 'The answer is ready', body: 'What is a compiler?' }],
      flashes: [],
    });
  await app.evaluate(() => (globalThis as unknown as Caught).caught[0]?.click());
  await expect(page.getByTestId('message-user').last()).toContainText('And an interpreter?');
});

test('where the system shows no notifications the task bar asks for attention; a setting ends both', async () => {
  const { app, page } = await shared.window();
  const gates = shared.gates();
  await lookAway(app, false);
  async function longAnswer(text: string): Promise<void> {
    gates.pieces.hold(2);
    await send(page, text);
    await gates.pieces.reached();
    await passTime(app, 30_000);
    gates.pieces.open();
    await ended(page);
  }
  await longAnswer('What is a compiler?');
  await expect.poll(() => caught(app)).toEqual({ all: [], flashes: [true] });
  const { notifications } = await call(page, 'settings.get', undefined);
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  const setting = page.getByTestId('settings-notifications');
  await setting.getByText('Off', { exact: true }).click();
  await expect(setting.getByRole('radio', { name: 'Off' })).toBeChecked();
  await page.keyboard.press('Escape');
  await longAnswer('And an interpreter?');
  expect((await caught(app)).flashes).toEqual([true]);
  await call(page, 'settings.update', { notifications });
});
