/**
 * Not a test: what the meter costs (`npm run bench:meter`), on Linux. Two apps are open at the same time, one of them with
 * CONCERTINA_METER=off: idle, and each in turn writing an answer. The difference of their CPU times is the meter.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type AppWindow, enginePid, test } from './app';
import { ended, endless, ready, send, streaming } from './chat';

const idleMs = 20_000;
const answerMs = 15_000;
const rounds = Number(process.env.ROUNDS ?? 5);

/** Of the engine process only the thread that serves calls and frames: the others compute the answer. */
const parts = ['main', 'window', 'graphics', 'engine'] as const;
type Times = Record<(typeof parts)[number], number>;

interface Measured {
  /** CPU milliseconds */
  times: Times;
  seconds: number;
}

test('cost of the meter', async ({ launch }) => {
  test.skip(process.platform !== 'linux', 'CPU times are read from /proc');
  test.setTimeout(30 * 60_000);
  // a cache of f16 needs no measuring of the model before the first answer
  const context = { typeK: 'f16', typeV: 'f16' } as const;
  const settings = { sampling: endless, context };
  const open = async (folder: string, env: Record<string, string>) => {
    const window = await launch({ settings, folder, env });
    await ready(window.page);
    return window;
  };
  const apps = { on: await open('on', {}), off: await open('off', { CONCERTINA_METER: 'off' }) };
  const clocks = { on: await clockOf(apps.on), off: await clockOf(apps.off) };
  await apps.on.page.getByTestId('status-strip').waitFor();
  await apps.off.page.getByTestId('status-strip').waitFor({ state: 'detached' });

  const idle: Record<keyof typeof apps, Measured[]> = { on: [], off: [] };
  const answering: Record<keyof typeof apps, Measured[]> = { on: [], off: [] };
  for (let round = 0; round < rounds; round++) {
    const ends = (['on', 'off'] as const).map(async (name) => idle[name].push(await clocks[name](() => pause(idleMs))));
    await Promise.all(ends);
    // whoever goes first finds the caches cold
    for (const name of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      const { page } = apps[name];
      await page.keyboard.press('Control+N');
      await send(page, 'Write down whatever comes to your mind.');
      await streaming(page);
      answering[name].push(await clocks[name](() => pause(answerMs)));
      await page.getByTestId('stop').click();
      await ended(page);
    }
  }
  report('idle', idle.on, idle.off);
  report('answering', answering.on, answering.off);
});

/** Runs something and tells the CPU time that the processes of the app took for it. */
async function clockOf({ app }: AppWindow): Promise<(run: () => Promise<void>) => Promise<Measured>> {
  const metrics = await app.evaluate(({ app: main }) => main.getAppMetrics());
  const pid = (type: string) => metrics.find((metric) => metric.type === type)?.pid ?? 0;
  const engine = await enginePid(app);
  const read = (): Times => ({
    main: processMs(pid('Browser')),
    window: processMs(pid('Tab')),
    graphics: processMs(pid('GPU')),
    engine: threadMs(engine, engine),
  });
  return async (run) => {
    const before = read();
    const start = performance.now();
    await run();
    const seconds = (performance.now() - start) / 1000;
    const after = read();
    return { seconds, times: mapParts((part) => after[part] - before[part]) };
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function processMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, Number(thread)), 0);
}

/** First number of schedstat: nanoseconds on a processor. */
function threadMs(pid: number, thread: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function mapParts(value: (part: keyof Times) => number): Times {
  return Object.fromEntries(parts.map((part) => [part, value(part)])) as Times;
}

/** Medians of CPU milliseconds per second, and the differences of the rounds. */
function report(what: string, on: Measured[], off: Measured[]): void {
  const perSecond = ({ times, seconds }: Measured, part: keyof Times) => times[part] / seconds;
  const columns = parts.map((part) => {
    const differences = on.map((measured, i) => {
      const other = off[i];
      return other ? perSecond(measured, part) - perSecond(other, part) : 0;
    });
    return {
      process: part,
      on: median(on.map((measured) => perSecond(measured, part))),
      off: median(off.map((measured) => perSecond(measured, part))),
      meter: median(differences),
      least: Math.min(...differences),
      most: Math.max(...differences),
    };
  });
  const seconds = median(on.map((measured) => measured.seconds));
  console.log(`\n${what}, ${on.length} rounds of ${seconds.toFixed(1)} s, CPU ms per second (10 ms = 1% of a core)`);
  console.table(columns.map((row) => mapNumbers(row)));
  const sum = columns.reduce((all, { meter }) => all + meter, 0);
  console.log(`the meter in all: ${sum.toFixed(2)} ms per second`);
}

function mapNumbers(row: Record<string, string | number>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? Number(value.toFixed(2)) : value]),
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? 0)) / 2;
}
