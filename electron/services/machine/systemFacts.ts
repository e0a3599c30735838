/** The computer as its system tells it, for the diagnostics. */
import os from 'node:os';
import type { SystemFacts } from './diagnostics';

/** Variables whose values say nothing of the person. */
const told = ['CONCERTINA_SIMD', 'CONCERTINA_METAL_VARIANT', 'LLAMA_ATTN_ROT_DISABLE', 'OMP_NUM_THREADS'];

export function systemFacts(environment: NodeJS.ProcessEnv = process.env): SystemFacts {
  const cpus = os.cpus();
  return {
    os: `${os.type()} ${os.release()}`,
    arch: os.arch(),
    cpu: cpus[0]?.model.trim() || 'unknown',
    logicalCores: cpus.length,
    memoryBytes: os.totalmem(),
    freeBytes: os.freemem(),
    environment: told.filter((name) => environment[name]).map((name) => `${name}=${environment[name]}`),
  };
}

/** Names of the machine and of the person that the environment may not hold. */
export function personNames(): string[] {
  const names = [os.hostname(), os.homedir()];
  try {
    names.push(os.userInfo().username);
  } catch {
    // a user without an entry in the system's list has no name
  }
  return names;
}
