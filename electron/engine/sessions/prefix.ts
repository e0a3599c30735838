/** How much of a prompt a cache spares: what begins alike. */

export function commonPrefix(a: Int32Array, b: Int32Array): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at++;
  return at;
}

/**
 * Tokens of the prompt that need not be read again when the cache holds `held`. `rewinds`: the cache can forget its last
 * tokens; where it cannot (sliding window, recurrent state) all of them must be continued.
 */
export function sparedBy(held: Int32Array, prompt: Int32Array, rewinds: boolean): number {
  const common = commonPrefix(held, prompt);
  return rewinds || common === held.length ? common : 0;
}
