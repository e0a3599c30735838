// Win64 aligns the stack to 16 bytes. A move of 32 or 64 bytes that wants its place aligned, to or from the stack of a function that
// did not align it, crashes now and then: GCC may write such moves (its bug 54412), clang aligns
// first. Looked for in the machine code.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const label = /^[0-9a-f]+ <(.+)>:$/;
/** `vmovaps %ymm6,0x40(%rsp)` and its relatives for integers, doubles and 64 bytes */
const alignedMove = /\bvmov(?:ap[sd]|dqa(?:32|64)?)\s.*%[yz]mm/;
const onStack = /\(%r[sb]p\)|\(%r[sb]p,/;
const aligns = /\band\s+\$0xf{14}(?:e0|c0|80|00),%rsp/;

/**
 * @typedef {{functions: number, aligned: number, faulty: string[]}} Stack functions: all of them; aligned: those that move wide
 *   registers to their stack and align it; faulty: those that do not align it
 */

/** @param {string} file a program, library or object of Windows, with its symbols @returns {Promise<Stack>} */
export async function checkStack(file) {
  const child = spawn('x86_64-w64-mingw32-objdump', ['-d', '--no-show-raw-insn', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const stack = await readStack(createInterface(child.stdout));
  const code = await ended;
  if (code !== 0) throw new Error(`objdump ended with code ${code} on ${file}`);
  return stack;
}

/** @param {Iterable<string> | AsyncIterable<string>} disassembly its lines @returns {Promise<Stack>} */
export async function readStack(disassembly) {
  const stack = { functions: 0, aligned: 0, faulty: [] };
  let current = { name: '', moves: false, aligned: false };
  const end = () => {
    if (!current.moves) return;
    if (current.aligned) stack.aligned++;
    else stack.faulty.push(current.name);
  };
  for await (const line of disassembly) {
    const found = label.exec(line);
    if (found) {
      end();
      stack.functions++;
      current = { name: found[1], moves: false, aligned: false };
    } else if (aligns.test(line)) current.aligned = true;
    else if (alignedMove.test(line) && onStack.test(line)) current.moves = true;
  }
  end();
  return stack;
}
