// The Metal kernels on Linux: every source is type-checked with address spaces, then executed by the cases on this CPU.
// CLI: node test/kernels/run.mjs [FILTER]         cases whose name contains FILTER; exit status 1 when something failed
//      node test/kernels/run.mjs --write-docs     writes the tables of docs/metal.md

import { buildEngine, describePatches } from '../../native/prepare/build.mjs';
import { runProgram } from '../programs.mjs';
import { compileWithApple, LANGUAGES } from './apple.mjs';
import { buildCases, buildModules, checkAddon } from './build.mjs';
import { checkModule } from './check.mjs';
import { DocTables } from './docs.mjs';
import { checkEmbedding } from './embed.mjs';
import { modules } from './modules.mjs';
import { MUTANTS } from './mutants.mjs';
import { runMutants } from './mutate.mjs';
import { whyNot } from './toolchain.mjs';

const write = process.argv.includes('--write-docs');
const filter = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? '';
const counts = { passed: 0, failed: 0, skipped: 0 };

/** Rows that cases print; those of counts (cases/counts.cpp) are per cached position and KV head. */
const tables = new DocTables();

function result(name, problem) {
  console.log(problem ? `FAILED: ${name}\n${problem.trimEnd()}` : `ok: ${name}`);
  counts[problem ? 'failed' : 'passed']++;
}

async function checkSources() {
  for (const module of modules()) {
    for (const defines of module.defines) {
      const label = ['types and address spaces', module.name, ...defines].join(' ');
      result(label, await checkModule(module, { defines }));
    }
  }
  result('the addon with Metal compiles', await checkAddon());
  const library = modules().find(({ name }) => name === 'turbo');
  result('the library as the build on macOS embeds it', await checkEmbedding(library).catch((error) => error.message));
}

async function compileOnMac() {
  for (const module of modules().filter(({ lint }) => lint)) {
    for (const language of LANGUAGES) {
      const { problem, unknown } = await compileWithApple(module, language);
      if (unknown) {
        console.log(`skipped: this Xcode does not know ${language}`);
        counts.skipped++;
      } else result(`Apple's compiler, ${language}: ${module.name}`, problem);
    }
  }
}

/** The cases whose names say so run a second time, with kernels compiled for fast math. */
const ANY_MATH = 'any math';

async function runCases(program, args) {
  const { stdout, stderr, status } = await runProgram(program, args);
  const closing = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(stdout);
  for (const line of stdout.split('\n')) {
    if (!tables.take(line) && line && line !== closing?.[0]) console.log(line);
  }
  if (!closing) return result('cases', `${stderr}\nthe program ended early (status ${status})`);
  counts.passed += Number(closing[1]);
  counts.failed += Number(closing[2]);
  counts.skipped += Number(closing[3]);
}

/** Says how long a part took: all of it should end in six minutes on two cores. */
async function part(name, body) {
  const start = performance.now();
  const value = await body();
  console.log(`(${name}: ${((performance.now() - start) / 1000).toFixed(0)} s)`);
  return value;
}

console.log(describePatches());
if (process.platform === 'darwin') await compileOnMac();
const missing = await whyNot();
if (missing && process.env.CI && process.platform === 'linux' && process.arch === 'x64')
  result('Metal kernels', missing);
else if (missing) {
  console.log(`skipped: Metal kernels: ${missing}`);
  counts.skipped++;
} else {
  // for its ggml, and the patched tree
  await part('ggml', () => buildEngine({ targets: ['turbo-tests'] }));
  if (!filter) await part('types', checkSources);
  const named = await part('kernels', buildModules);
  const program = await part('cases', buildCases);
  const mutants = MUTANTS.filter(({ why, module }) => `planted mistake in ${module}: ${why}`.includes(filter));
  // the cases are one thread: the mistakes are built and run beside them
  const [, outcomes] = await Promise.all([
    part('run', () => runCases(program, [...named, filter])),
    part('planted mistakes', () => runMutants(mutants, { program, named })),
  ]);
  if (!filter) for (const { name, problem } of await tables.compare({ write })) result(name, problem);
  const fast = await part('kernels for fast math', () => buildModules({ fast: true }));
  if (fast.length > 0 && !filter) {
    console.log('again, with fast math:');
    await runCases(program, [...fast, '--flush', ANY_MATH]);
  }
  for (const { name, problem } of outcomes) result(name, problem);
}
tables.print();
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
