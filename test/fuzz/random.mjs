// Chance that is the same for the same seed, so that a case can be made again.

/** The same numbers for the same seed (mulberry32). @param {number} seed @returns {(below: number) => number} */
export function randomOf(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below) | 0;
  };
}

/** @typedef {ReturnType<typeof randomOf>} Random */

/** @template T @param {Random} random @param {readonly T[]} all @returns {T} */
export const pick = (random, all) => /** @type {any} */ (all[random(all.length)]);

/** What is meant well, so many times out of so many and one. */
export const mostly = (random, good, bad, times = 4) => pick(random, random(times + 1) > 0 ? good : bad);
