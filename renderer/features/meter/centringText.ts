/** Whether the turbo caches are centred, and why not; empty without turbo caches. */
import type { LoadedContext } from '../../../electron/contract/engine';

export function centringText({ typeK, typeV, centring }: LoadedContext): string {
  const sides = [
    { name: 'K', turbo: isTurbo(typeK.effective), on: centring.k, reason: centring.reasonK },
    { name: 'V', turbo: isTurbo(typeV.effective), on: centring.v, reason: centring.reasonV },
  ].filter(({ turbo }) => turbo);
  const off = sides.filter(({ on }) => !on);
  if (sides.length === 0) return '';
  if (off.length === 0) return sides.length === 2 ? 'on' : `${sides[0]?.name} on`;
  const reasons = [...new Set(off.map(({ reason }) => reason))].join('; ');
  if (off.length === sides.length) return `off: ${reasons}`;
  return `${sides.find(({ on }) => on)?.name} on, ${off[0]?.name} off: ${reasons}`;
}

function isTurbo(type: string): boolean {
  return type.startsWith('turbo');
}
