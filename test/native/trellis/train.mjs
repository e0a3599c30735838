// Builds and runs train.cpp: prints the tables of native/turbo/codec/turbo-trellis.h on stdout, progress on stderr.
// CLI: node test/native/trellis/train.mjs [turbo4_tcq|turbo3_tcq]

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { buildEngine } from '../../../native/prepare/build.mjs';

const { bin } = await buildEngine({ targets: ['trellis-train'] });
const { status } = spawnSync(path.join(bin, 'trellis-train'), process.argv.slice(2), { stdio: 'inherit' });
process.exit(status ?? 1);
