// The format of all C, C++, CUDA and Metal, by clang-format as a package, so that every system has the same version. Part of
// `npm run check`; TypeScript and the rest are Biome's.
// CLI: node test/format.mjs           names the files that are formatted otherwise
//      node test/format.mjs --write   formats them

import fs from 'node:fs';
import path from 'node:path';
import { format } from '@wasm-fmt/clang-format';
import { ROOT } from '../native/prepare/paths.mjs';
import { listFiles } from './layers.mjs';

const write = process.argv.includes('--write');
const style = fs.readFileSync(path.join(ROOT, '.clang-format'), 'utf8');
const files = listFiles(['native', 'metal', 'test'], /\.(c|cpp|cu|cuh|h|inl|metal)$/);
const other = files.filter((file) => {
  const whole = path.join(ROOT, file);
  const text = fs.readFileSync(whole, 'utf8');
  // C++ by its name: clang-format knows no .inl and no .metal
  const formatted = format(text, 'main.cpp', style);
  if (formatted !== text && write) fs.writeFileSync(whole, formatted);
  return formatted !== text;
});
for (const file of write ? [] : other) console.error(`${file}: not formatted. Run: npm run format`);
console.log(`format: ${files.length} files of C, C++ and Metal, ${other.length} ${write ? 'written' : 'to format'}`);
if (other.length > 0 && !write) process.exitCode = 1;
