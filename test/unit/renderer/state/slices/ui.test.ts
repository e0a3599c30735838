/** Links of answers: asked about once for each host, in the window and in a browser. */
import { describe, expect, it, vi } from 'vitest';
import { openWindow } from '@/test/fixtures/renderer/window';

async function start(headless = false) {
  const { bridge, actions, get } = await openWindow({ start: false });
  const opened: string[] = [];
  bridge.answer('app.openExternal', ({ url }: { url: string }) => void opened.push(url));
  vi.stubGlobal('window', {
    open: (url: string, target: string, how: string) => opened.push(`${url} ${target} ${how}`),
  });
  actions.engine.receiveInfo({
    ...{ version: '0', platform: 'linux', headless, runtime: '', notices: [] },
  });
  return { ui: actions.ui, get, opened };
}

describe('a link of an answer', () => {
  it('is opened after a question, which comes once for each host', async () => {
    const { ui, get, opened } = await start();
    await ui.askToOpen('https://example.com/a?words=secret');
    expect(get().ui.link).toBe('https://example.com/a?words=secret');
    expect(opened).toEqual([]);
    await ui.answerLink(true);
    await ui.askToOpen('https://example.com/b');
    expect(get().ui.link).toBeNull();
    expect(opened).toEqual(['https://example.com/a?words=secret', 'https://example.com/b']);

    for (const other of [
      'https://example.com:8443/',
      'https://www.example.com/',
      'https://example.com@evil.example/',
    ]) {
      await ui.askToOpen(other);
      expect(get().ui.link).toBe(other);
      await ui.answerLink(false);
    }
    expect(opened).toHaveLength(2);
  });

  it('that was not opened is asked about again', async () => {
    const { ui, get, opened } = await start();
    for (const _ of [1, 2]) {
      await ui.askToOpen('https://example.com/');
      expect(get().ui.link).toBe('https://example.com/');
      await ui.answerLink(false);
      expect(get().ui.link).toBeNull();
    }
    // an answer without a question
    await ui.answerLink(true);
    expect(opened).toEqual([]);
  });

  it('is opened by the browser itself in headless mode, which tells the page nothing', async () => {
    const { ui, opened } = await start(true);
    await ui.askToOpen('https://example.com/');
    await ui.answerLink(true);
    expect(opened).toEqual(['https://example.com/ _blank noopener,noreferrer']);
  });
});
