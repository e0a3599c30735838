/** What the page shows for a moment only, and how it is when it has come to rest. To ask again and again could miss it. */
import { expect, type Page } from '@playwright/test';
import axeCore from 'axe-core';

type Noted = { met: Promise<void> };

/** Watches from now on. What is returned waits until an element of this kind had this text, be it gone again or not. */
export async function moment(page: Page, selector: string, text: string): Promise<() => Promise<void>> {
  const noted = await page.evaluateHandle<Noted, [string, string]>(
    ([wanted, words]) => ({
      met: new Promise((resolve) => {
        const look = () => {
          const all = [...document.querySelectorAll(wanted)];
          if (all.some(({ textContent }) => textContent?.includes(words))) resolve();
        };
        new MutationObserver(look).observe(document, {
          ...{ subtree: true, childList: true, characterData: true, attributes: true },
        });
        look();
      }),
    }),
    [selector, text],
  );
  return () => noted.evaluate(({ met }) => met);
}

/** A short message with a button stays until it is clicked: its time stands still as long as nobody looks at the window. */
export async function keepToasts(page: Page, hidden = true): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
}

/** What opens or closes has come to rest: a color in between is nobody's. */
export async function atRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const ends = (animation: Animation) => animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY;
    const running = document.getAnimations().filter(ends);
    // one that is canceled rejects
    await Promise.allSettled(running.map(({ finished }) => finished));
  });
}

/** What `axe.run` answers, as far as it is read here. */
export interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
  /** a rule each */
  passes: unknown[];
}

/**
 * What axe says about the page at rest, in the page itself: Electron opens no other one.
 * @param rule alone; left out: all
 */
export async function axe(page: Page, rule?: string): Promise<AxeResult> {
  // takes longer than to run it: once is enough
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeCore.source);
  await atRest(page);
  const found = await page.evaluate(
    ([only]) =>
      (window as unknown as { axe: { run(options: object): Promise<AxeResult> } }).axe.run({
        resultTypes: ['violations'],
        // which nobody reads, and which take half of the time
        selectors: false,
        ...(only && { runOnly: [only] }),
      }),
    [rule] as const,
  );
  // an empty page would have no violations either
  if (!rule && found.passes.length < 10) throw new Error(`axe found ${found.passes.length} rules: is the page empty?`);
  return found;
}

/**
 * Violations in light and in dark: what is not of colors is the same in both. The page follows the theme of the system, and begins
 * with the one that it has: for another one all of it is drawn anew.
 */
export async function axeInBoth(page: Page): Promise<string[]> {
  const dark = await page.evaluate(() => document.documentElement.classList.contains('dark'));
  const [first, second] = dark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  await follow(page, first);
  const all = await violations(page, first);
  await follow(page, second);
  return [...all, ...(await violations(page, second, 'color-contrast'))];
}

async function violations(page: Page, theme: string, rule?: string): Promise<string[]> {
  const found = await axe(page, rule);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${theme}: ${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

async function follow(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  // the page draws itself anew when it hears of it
  await page.waitForFunction(
    (dark) => document.documentElement.classList.contains('dark') === dark,
    colorScheme === 'dark',
  );
  await atRest(page);
}

/** Names the rule and the elements that break it. */
export async function noViolations(page: Page): Promise<void> {
  const { violations } = await axe(page);
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}
