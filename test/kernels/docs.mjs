// The tables of docs/metal.md, made from what the cases print: compared with the page, or written into it.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../native/prepare/paths.mjs';
import { run } from '../../native/prepare/process.mjs';
import { CLANG } from './toolchain.mjs';

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

/** Collects the rows of all tables. */
export class DocTables {
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
