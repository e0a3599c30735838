// Plants mistakes (mutants.mjs) and sees that the tests notice: a test of the tests.

import { runProgram, twoAtATime } from '../programs.mjs';
import { buildModule } from './build.mjs';
import { checkModule } from './check.mjs';
import { modules } from './modules.mjs';

/** A mistake may make a kernel loop for ever. */
const LIMIT_MS = 120_000;
/** Failed checks of a case: the first ones need not say yet what the mistake is. */
const ENOUGH = 10;

/**
 * @param {import('./mutants.mjs').Mutant[]} mutants
 * @param {{program: string, named: string[]}} cases named: the --module arguments of the right modules
 * @returns {Promise<{name: string, problem: string}[]>} problem is empty where the mistake was noticed
 */
export function runMutants(mutants, cases) {
  return twoAtATime(mutants, async (mutant, index) => ({
    name: `planted mistake in ${mutant.module}: ${mutant.why}`,
    problem: await unnoticed(mutant, index, cases).catch((error) => error.message),
  }));
}

async function unnoticed(mutant, index, cases) {
  const module = modules().find(({ name }) => name === mutant.module);
  if (!module) return `there is no module ${mutant.module}`;
  const options = {
    name: `${mutant.module}.mutant-${index}`,
    change: (text) => plant(text, mutant),
    keep: mutant.keep,
  };
  const seen =
    mutant.seenBy === 'types' ? await checkModule(module, options) : await execute(module, options, mutant, cases);
  if (seen === '') return 'nothing noticed it';
  return mutant.as.test(seen) ? '' : `it was noticed, but not as ${mutant.as}:\n${seen}`;
}

/** @returns {Promise<string>} what the cases that failed said; empty: all passed */
async function execute(module, options, { module: name, cases: filter }, { program, named }) {
  const file = await buildModule(module, options);
  const args = [...named, '--module', `${name}=${file}`, '--failures', String(ENOUGH), filter];
  const { stdout, status, signal } = await runProgram(program, args, { timeoutMs: LIMIT_MS });
  if (signal) return `${stdout}\nthe cases did not end: ${signal}`;
  const closing = /^(\d+) passed, (\d+) failed/m.exec(stdout);
  if (!closing) return `${stdout}\nthe program ended early`;
  if (Number(closing[1]) + Number(closing[2]) === 0) throw new Error(`no case is named "${filter}"`);
  return status === 0 ? '' : stdout;
}

/** A mutant whose place is gone must be rewritten, not forgotten. White space is the formatter's, and counts for nothing. */
function plant(text, { find, replace, why }) {
  const place = new RegExp(Array.from(find.replace(/\s+/g, ''), escaped).join('\\s*'), 'g');
  const found = text.match(place)?.length ?? 0;
  if (found !== 1) throw new Error(`"${why}": its text is there ${found} times, not once: ${find}`);
  return text.replace(place, () => replace);
}

const escaped = (character) => character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
