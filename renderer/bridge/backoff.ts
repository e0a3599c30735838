/** Waiting time before the nth try to connect again: doubles, stays under ten seconds. */
const firstMs = 400;
const longestMs = 10_000;

export function backoffMs(attempt: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, attempt));
}
