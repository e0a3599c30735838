/** The process of one target: makes cases, writes down the one that is under way, and tells what became of it. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chats } from './chats';
import { documents } from './documents';
import { gguf } from './gguf';
import { http } from './http';
import { ipc } from './ipc';
import { randomOf } from './random.mjs';
import { sessions } from './sessions';
import type { Attack, Outcome, Target } from './target';

const targets = { gguf, sessions, chats, documents, ipc, http } as Record<string, Target<unknown>>;

interface Order {
  seed: number;
  /** index of the first case, and behind the last one */
  first: number;
  last: number;
  msLeft: number;
  /** a file of cases, in place of chance; '': none */
  replay: string;
}

const [name = '', current = ''] = process.argv.slice(2);

async function main({ seed, first, last, msLeft, replay }: Order): Promise<void> {
  const target = targets[name];
  if (!target) throw new Error(`There is no target ${name}.`);
  // in memory where there is such a disk: most cases write files and wait for them
  const root = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
  const folder = fs.mkdtempSync(path.join(root, `concertina-fuzz-${name}-`));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const attack = await target(folder);
  const { atOnce = 1 } = attack;
  try {
    // one behind the other: some need what the one before them has done
    const kept = replay ? (JSON.parse(fs.readFileSync(replay, 'utf8')) as unknown[]) : [];
    for (const [index, one] of kept.entries()) await step(attack, [one], 0, index === kept.length - 1);
    // what it took to come up is not counted
    const end = performance.now() + msLeft;
    for (let at = first, well = true; !replay && well && at < last && performance.now() < end; at += atOnce) {
      const cases = Array.from({ length: Math.min(atOnce, last - at) }, (_, index) =>
        attack.make(randomOf(seed * 1_000_003 + at + index), at + index),
      );
      // what is not as it was makes way for a new process
      well = await step(attack, cases, at + cases.length);
    }
    await tell({ type: 'done', note: attack.note?.() ?? '' });
  } finally {
    await attack.close();
  }
}

/** False: what is attacked is not as it was; `looks`: it is looked at afterwards. */
async function step(attack: Attack<unknown>, cases: unknown[], next: number, looks = true): Promise<boolean> {
  const text = JSON.stringify(cases);
  fs.writeFileSync(current, text);
  const started = performance.now();
  // as a replay has them
  const outcomes: Outcome[] = await Promise.all((JSON.parse(text) as unknown[]).map((one) => attack.run(one)));
  const problems = outcomes.flatMap((outcome) => ('problem' in outcome ? outcome.problem : []));
  let well = true;
  const looked = looks ? attack.isWell?.() : undefined;
  await looked?.catch((error: unknown) => {
    well = false;
    problems.push(`not as before: ${String(error)}`);
  });
  const refused: Record<string, number> = {};
  for (const outcome of outcomes)
    if ('refused' in outcome) refused[outcome.refused] = (refused[outcome.refused] ?? 0) + 1;
  const served = outcomes.filter((outcome) => 'served' in outcome).length;
  const ms = performance.now() - started;
  const kept = problems.length > 0 ? `${current}.${next}` : '';
  // before the next one takes its place
  if (kept) fs.writeFileSync(kept, text);
  await tell({ type: 'case', next, cases: cases.length, served, refused, ms, problem: problems.join('\n'), kept });
  return well;
}

function tell(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send) throw new Error('This is started by test/fuzz/run.mjs.');
    process.send(message, () => resolve());
  });
}

process.once('message', (order: Order) => {
  main(order).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
// whoever asked is gone
process.once('disconnect', () => process.exit(1));
