/** When the memory of a long run counts as grown: `npm run soak`. */
import { describe, expect, it } from 'vitest';
import { growthOf, type ProcessSeen, reportOf, takenBy } from '@/test/e2e/soakMemory';

const level = (count: number, of: (index: number) => number) => Array.from({ length: count }, (_, index) => of(index));
const seen = (name: string, pss: number[]): ProcessSeen => ({
  ...{ pid: 7, name },
  taken: pss.map((bytes) => ({ pss: bytes, anon: bytes / 2 })),
});

describe('growth', () => {
  it('leaves the warm-up out', () => {
    const samples = level(30, (index) => (index < 10 ? 50e6 + index * 5e6 : 100e6));
    expect(growthOf(samples)).toMatchObject({ percent: 0, from: 100e6 });
  });

  it('sees a slow leak, and no single odd sample', () => {
    expect(growthOf(level(30, (index) => 100e6 + index * 1e6)).percent).toBeGreaterThan(5);
    expect(growthOf(level(30, (index) => (index === 29 ? 300e6 : 100e6))).percent).toBe(0);
  });
});

describe('report', () => {
  it('names each process that passed the limit, and counts those that came and went', () => {
    const leaking = seen(
      'Tab',
      level(30, (index) => 100e6 + index * 2e6),
    );
    const still = seen(
      'Browser',
      level(30, () => 80e6),
    );
    const { lines, grown } = reportOf([leaking, still, seen('Concertina documents', [1e6])], 30, 5);
    expect(grown).toEqual([expect.stringMatching(/^Tab grew by \d+\.\d%, more than 5%$/)]);
    expect(lines[1]).toContain('Browser (7): first 80.0, last 80.0, most 80.0 MB, of the last 40.0 not of files');
    expect(lines.at(-1)).toBe('1 process(es) came or went meanwhile');
    expect(reportOf([leaking], 30, 90).grown).toEqual([]);
    const early = reportOf([leaking], 30, null);
    expect(early.grown).toEqual([]);
    expect(early.lines[0]).toContain('too short a run to judge');
  });
});

it.runIf(process.platform === 'linux')('reads what a process takes', () => {
  const own = takenBy(process.pid);
  expect(own?.pss).toBeGreaterThan(10e6);
  expect(own?.anon).toBeLessThan(own?.pss ?? 0);
  expect(takenBy(2 ** 22 + 1)).toBeNull();
});
