// The Metal kernels on Linux: every source is type-checked with address spaces, then executed by the cases on this CPU.
// CLI: node test/kernels/run.mjs [FILTER]         cases whose name contains FILTER; exit status 1 when something failed
//      node test/kernels/run.mjs --write-docs     writes the tables of docs/metal.md

import fs from 'node:fs';
import path from 'node:path';
import { buildEngine, describePatches } from '../../native/prepare/build.mjs';
import { ROOT } from '../../native/prepare/paths.mjs';
import { run } from '../../native/prepare/process.mjs';
import { runProgram } from '../programs.mjs';
import { buildCases, buildModules, checkAddon, modules } from './build.mjs';
import { checkEmbedding, checkModule, compileWithApple, LANGUAGES } from './checks.mjs';
import { MUTANTS, runMutants } from './mutants.mjs';
import { CLANG, whyNot } from './toolchain.mjs';

const PAGE = path.join(ROOT, 'docs', 'metal.md');

/** Tables by the first word of their lines ("row NAME | ..."). exact: the same with every compiler. */
const TABLES = {
  counts: {
    exact: false,
    columns:
      'kernel | cache bytes read | distinct | other device bytes | table loads | threadgroup bytes read | written | ' +
      'threadgroup barriers | simdgroup barriers | collectives | threadgroup memory',
  },
  chips: { exact: true, columns: 'chip | 2K | 8K | 16K | 32K | 128K' },
  shapes: {
    exact: true,
    columns:
      'head_dim | heads per KV head | queries per SIMD-group | SIMD-groups | expansions of a row | threadgroup memory',
  },
};

/** The tables of docs/metal.md, made from what the cases print: compared with the page, or written into it. */
class DocTables {
  #rows = new Map(Object.keys(TABLES).map((name) => [name, []]));

  /** @returns {boolean} whether the line is a row */
  take(line) {
    const [, name, row] = /^row (\w+) (\|.*)$/.exec(line) ?? [];
    this.#rows.get(name)?.push(row);
    return name !== undefined;
  }

  text(name) {
    const { columns } = TABLES[name];
    return [`| ${columns} |`, `|${' --- |'.repeat(columns.split('|').length)}`, ...this.#rows.get(name)].join('\n');
  }

  print() {
    for (const [name, rows] of this.#rows) if (rows.length > 0) console.log(`\n${name}\n${this.text(name)}`);
  }

  /**
   * @param {{write?: boolean}} [options] write: into the page, instead of comparing
   * @returns {Promise<{name: string, problem: string}[]>} one result for each table
   */
  async compare({ write = false } = {}) {
    const compiler = (await run(CLANG, ['--version'])).stdout
      .split('\n')[0]
      .replace(/.*version ([\d.]+).*/, 'clang $1');
    let page = fs.readFileSync(PAGE, 'utf8');
    const results = Object.keys(TABLES).map((name) => {
      const block = new RegExp(`(<!-- ${name}: [\\s\\S]*?-->\n)([\\s\\S]*?)(<!-- end of ${name} -->)`);
      const old = block.exec(page)?.[2];
      const fresh = `\n${TABLES[name].exact ? '' : `Compiled by ${compiler} with \`-O1\`.\n\n`}${this.text(name)}\n\n`;
      const comparable = TABLES[name].exact || old?.includes(compiler);
      const current = old === fresh || (old !== undefined && !comparable);
      if (write && old !== undefined) page = page.replace(block, (_, start, __, end) => start + fresh + end);
      const hint = 'docs/metal.md is out of date: npm run test:kernels -- --write-docs';
      return { name: `docs/metal.md: ${name}`, problem: current || write ? '' : hint };
    });
    if (write) fs.writeFileSync(PAGE, page);
    return results;
  }
}

const write = process.argv.includes('--write-docs');
const filter = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? '';
const counts = { passed: 0, failed: 0, skipped: 0 };

/** Rows that cases print; those of counts (cases/dispatch.cpp) are per cached position and KV head. */
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
