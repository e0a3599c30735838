/**
 * Not a test: what the meter costs (`npm run bench:meter`), on Linux. Two apps are open at the same time, one of them with
 * CONCERTINA_METER=off: idle, and each in turn writing an answer. The difference of their CPU times is the meter.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { median } from '../bench/speed/report.mjs';
import { type AppWindow, enginePid, test } from './app';
import { ended, endless, ready, send, streaming } from './chat';

const idleMs = 20_000;
const answerMs = 15_000;
const rounds = Number(process.env.ROUNDS ?? 5);

/** Of the engine process only the thread that serves calls and frames: the others compute the answer. */
const parts = ['main', 'window', 'graphics', 'engine'] as const;
/** CPU milliseconds */
type Times = Record<(typeof parts)[number], number>;

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

  const idle: Record<keyof typeof apps, Times[]> = { on: [], off: [] };
  const answering: Record<keyof typeof apps, Times[]> = { on: [], off: [] };
  for (let round = 0; round < rounds; round++) {
    const ends = (['on', 'off'] as const).map(async (name) => idle[name].push(await clocks[name](idleMs)));
    await Promise.all(ends);
    // whoever goes first finds the caches cold
    for (const name of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      const { page } = apps[name];
      await page.keyboard.press('Control+N');
      await send(page, 'Write down whatever comes to your mind.');
      await streaming(page);
      answering[name].push(await clocks[name](answerMs));
      await page.getByTestId('stop').click();
      await ended(page);
    }
  }
  report('idle', idle.on, idle.off);
  report('answering', answering.on, answering.off);
});

/** What the processes of the app take in a second, measured over some time. */
async function clockOf({ app }: AppWindow): Promise<(ms: number) => Promise<Times>> {
  const metrics = await app.evaluate(({ app: main }) => main.getAppMetrics());
  const pid = (type: string) => metrics.find((metric) => metric.type === type)?.pid ?? 0;
  const engine = await enginePid(app);
  const read = (): Times => ({
    main: processMs(pid('Browser')),
    window: processMs(pid('Tab')),
    graphics: processMs(pid('GPU')),
    engine: threadMs(engine, engine),
  });
  return async (ms) => {
    const before = read();
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve, ms));
    const seconds = (performance.now() - start) / 1000;
    const after = read();
    return Object.fromEntries(parts.map((part) => [part, (after[part] - before[part]) / seconds])) as Times;
  };
}

function processMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, Number(thread)), 0);
}

/** First number of schedstat: nanoseconds on a processor. */
function threadMs(pid: number, thread: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Medians of CPU milliseconds per second, and the differences of the rounds. */
function report(what: string, on: Times[], off: Times[]): void {
  const rounded = (value: number) => Number(value.toFixed(2));
  const rows = parts.map((part) => {
    const [ofOn, ofOff] = [on, off].map((all) => all.map((times) => times[part])) as [number[], number[]];
    const differences = ofOn.map((value, round) => value - (ofOff[round] ?? 0));
    const [meter, least, most] = [median(differences), Math.min(...differences), Math.max(...differences)];
    const figures = { on: median(ofOn), off: median(ofOff), meter, least, most };
    return {
      process: part,
      ...Object.fromEntries(Object.entries(figures).map(([key, of]) => [key, rounded(of)])),
      meter,
    };
  });
  console.log(`\n${what}, ${on.length} rounds, CPU ms per second (10 ms = 1% of a core)`);
  console.table(rows.map((row) => ({ ...row, meter: rounded(row.meter) })));
  console.log(`the meter in all: ${rounded(rows.reduce((all, { meter }) => all + meter, 0))} ms per second`);
}
