/** Requests that nobody means well against `concertina serve` as it runs: the longer run is `npm run bench:fuzz`. */
import { expect, it } from 'vitest';
import { fuzz, startFuzzed } from '../../fuzz.mjs';

it('fails at none of 600 requests of chance, and goes on as before', async () => {
  const { port, key, isWell, stop } = await startFuzzed();
  try {
    const { statuses, problems } = await fuzz({ port, key, isWell, seed: 7, requests: 600 });
    expect(problems).toEqual([]);
    for (const status of ['200', '400', '401', '403', '404', '501', 'ended'])
      expect(statuses[status]).toBeGreaterThan(0);
  } finally {
    await stop();
  }
});
