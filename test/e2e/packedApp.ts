/** Starts an app that is packed or installed, reached over the browser's debugging port: its fuses shut Node's inspector. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromium, expect, type Page } from '@playwright/test';
import { call } from './chat';

/** @param command the program and what stands before its arguments */
export async function startPacked(
  [program = '', ...before]: readonly string[],
  args: readonly string[] = [],
): Promise<{ page: Page; close(): Promise<void> }> {
  const app = spawn(program, [...before, '--remote-debugging-port=0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CONCERTINA_FIRST_PROBE: 'off' },
  });
  const ended = once(app, 'exit');
  const stop = async () => {
    app.kill();
    await ended;
  };
  try {
    // noDefaults: Electron manages no browser contexts, so Playwright must not try to set one up
    const browser = await chromium.connectOverCDP(await debuggingUrl(app.stderr), { noDefaults: true });
    const context = browser.contexts()[0];
    const page = context?.pages()[0] ?? (await context?.waitForEvent('page'));
    if (!page) throw new Error('the packaged app shows no window');
    return {
      page,
      close: async () => {
        await browser.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function debuggingUrl(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += chunk;
      const found = /DevTools listening on (ws:\S+)/.exec(text);
      if (found?.[1]) resolve(found[1]);
    });
    output.on('end', () => reject(new Error(`the packaged app ended:\n${text}`)));
  });
}

/** The process and the thread that read it, the map of its letters and what OCR needs lie in the archive of the app. */
export async function readPdf(page: Page, pdf: Buffer): Promise<string> {
  const file = { uploadId: null, name: 'words.pdf', bytes: pdf.length, offset: 0, data: pdf.toString('base64') };
  const { jobId } = await call(page, 'documents.upload', file);
  const job = async () => (await call(page, 'documents.jobs', undefined)).find(({ id }) => id === jobId);
  await expect
    .poll(async () => (await job())?.document ?? (await job())?.error ?? null, { timeout: 60_000 })
    .not.toBeNull();
  const documentId = (await job())?.document?.id ?? '';
  return (await call(page, 'documents.text', { documentId, start: 0, end: 100 })).text;
}
