/** window.json: where the window was. An odd file or a screen that is gone gives the default place. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const boundsSchema = z.object({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int(),
  height: z.number().int(),
});
const stateSchema = z.object({ bounds: boundsSchema, maximized: z.boolean() });

export type Bounds = z.infer<typeof boundsSchema>;
export type WindowState = z.infer<typeof stateSchema>;

export const minimumSize = { width: 720, height: 480 };
export const defaultSize = { width: 1180, height: 780 };

/** The remembered state when the window would be seen on one of these screens; else null. */
export function readWindowState(path: string, screens: Bounds[]): WindowState | null {
  try {
    const state = stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
    return screens.some((screen) => showsTitle(state.bounds, screen)) ? state : null;
  } catch {
    return null;
  }
}

/** At once: the app may end right after its window closed. */
export function writeWindowState(path: string, state: WindowState): void {
  writeFileSync(`${path}.tmp`, `${JSON.stringify(state)}\n`);
  renameSync(`${path}.tmp`, path);
}

/** Enough of the upper edge lies on the screen to take hold of it. */
function showsTitle(window: Bounds, screen: Bounds): boolean {
  const visible = Math.min(window.x + window.width, screen.x + screen.width) - Math.max(window.x, screen.x);
  return visible >= 100 && window.y >= screen.y && window.y < screen.y + screen.height - 30;
}
