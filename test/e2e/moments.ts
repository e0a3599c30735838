/** What the page shows for a moment only, and how it is when it has come to rest. To ask again and again could miss it. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

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

/** What axe says about the page at rest, in the page itself: Electron opens no other one. */
export async function axe(page: Page): ReturnType<AxeBuilder['analyze']> {
  await atRest(page);
  return new AxeBuilder({ page }).setLegacyMode().analyze();
}
