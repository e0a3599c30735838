// How long large documents take to attach, and how long the thread that serves the window is held up by it.
// Makes its own documents, bundles what it measures and prints a table (needs the npm packages, no engine); run it idle.
// CLI: node test/bench/documents.mjs [NAME...]     (npm run bench:documents)

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { bundleForNode } from '../../electron/build.mjs';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';

const folder = path.join(BUILD, 'bench-documents');
await bundleForNode('documents', 'electron/workers/documents/main.ts', folder);
await bundleForNode('documentReader', 'electron/workers/documents/reader.ts', folder);
await bundleForNode('bench', 'test/bench/documentsBench.ts', folder);
const cMaps = path.join(ROOT, 'node_modules', 'pdfjs-dist', 'cmaps');
const args = [path.join(folder, 'bench.cjs'), path.join(folder, 'documents.cjs'), cMaps, ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
