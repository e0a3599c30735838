/** Memory of the app's processes over a long run: what each takes, and whether that grows. Linux only. */
import { readFileSync } from 'node:fs';

/** Bytes. `pss`: pages that several processes share count in equal parts; `anon`: the part that is no file's. */
export interface Taken {
  pss: number;
  anon: number;
}

export interface ProcessSeen {
  pid: number;
  /** what it is for: Browser, Tab, GPU, or the name of a utility process */
  name: string;
  taken: Taken[];
}

/** null: it has ended */
export function takenBy(pid: number): Taken | null {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const bytes = (field: string) =>
      1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN);
    return { pss: bytes('Pss'), anon: bytes('Pss_Anon') };
  } catch {
    return null;
  }
}

/** of the samples, the first ones */
const warmUp = 1 / 3;

/** Bytes at both ends of what comes after the warm-up. */
export interface Growth {
  from: number;
  to: number;
  /** in percent of the first */
  percent: number;
}

/** Medians of the first and the last third behind the warm-up: one odd sample moves neither. */
export function growthOf(samples: readonly number[]): Growth {
  const warm = samples.slice(Math.ceil(samples.length * warmUp));
  const third = Math.floor(warm.length / 3);
  const [from, to] = [median(warm.slice(0, third)), median(warm.slice(-third))];
  return { from, to, percent: (100 * (to - from)) / from };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A line for each process that was there at every sample, the others counted. `limit`: in percent; null: too short a run to judge. */
export function reportOf(processes: readonly ProcessSeen[], samples: number, limit: number | null) {
  const lasting = processes.filter(({ taken }) => taken.length === samples);
  const rows = lasting.map(({ name, pid, taken }) => ({
    name,
    pid,
    ...figures(taken),
    growth: growthOf(taken.map(({ pss }) => pss)),
  }));
  const lines = rows.map(
    ({ name, pid, first, last, most, anon, growth }) =>
      `${name} (${pid}): first ${first}, last ${last}, most ${most} MB, of the last ${anon} not of files; ` +
      (limit === null
        ? 'too short a run to judge'
        : `after the warm-up ${megabytes(growth.from)} to ${megabytes(growth.to)} MB: ${signed(growth.percent)}%`),
  );
  const grown = rows.flatMap(({ name, growth }) =>
    limit !== null && growth.percent > limit
      ? [`${name} grew by ${growth.percent.toFixed(1)}%, more than ${limit}%`]
      : [],
  );
  const passing = processes.length - lasting.length;
  return { lines: passing > 0 ? [...lines, `${passing} process(es) came or went meanwhile`] : lines, grown };
}

function figures(taken: readonly Taken[]) {
  const all = taken.map(({ pss }) => pss);
  return {
    first: megabytes(all[0] ?? Number.NaN),
    last: megabytes(all.at(-1) ?? Number.NaN),
    most: megabytes(Math.max(...all)),
    anon: megabytes(taken.at(-1)?.anon ?? Number.NaN),
  };
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
const signed = (percent: number) => `${percent > 0 ? '+' : ''}${percent.toFixed(1)}`;
