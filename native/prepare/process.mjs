// Child processes and the lock of the prepare scripts.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An error whose message is the whole story for the user: the CLIs print it without a stack. */
export class PrepareError extends Error {
  name = 'PrepareError';
}

/**
 * Runs a command without a shell.
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void}} [options]
 * @returns {Promise<{code: number, stdout: string, stderr: string}>} code is 127 when the command does not exist
 */
export function run(command, args, { cwd, env, onLine } = {}) {
  return new Promise((resolve, reject) => {
    // npm is a script on Windows, which Node starts only through the shell; our arguments hold no metacharacters
    const shell = process.platform === 'win32' && command === 'npm';
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell,
    });
    const output = { stdout: '', stderr: '' };
    for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
      let rest = '';
      child[name].setEncoding('utf8');
      child[name].on('data', (chunk) => {
        output[name] += chunk;
        if (!onLine) return;
        const lines = (rest + chunk).split('\n');
        rest = /** @type {string} */ (lines.pop());
        lines.forEach(onLine);
      });
      child[name].on('end', () => rest && onLine?.(rest));
    }
    child.on('error', (error) =>
      'code' in error && error.code === 'ENOENT' ? resolve({ code: 127, ...output }) : reject(error),
    );
    child.on('close', (code) => resolve({ code: code ?? 1, ...output }));
  });
}

/**
 * Runs a command that must succeed.
 * @param {string} what what the command was for, as the start of the error message
 * @returns {Promise<string>} its standard output
 */
export async function must(what, command, args, options) {
  const { code, stdout, stderr } = await run(command, args, options);
  if (code === 127) throw new PrepareError(`${what}: ${command} was not found. Install ${command} and try again.`);
  if (code !== 0)
    throw new PrepareError(`${what}: ${command} ${args[0]} ended with code ${code}.\n${(stderr || stdout).trim()}`);
  return stdout;
}

/**
 * Runs body while this process holds the lock file; waits while another living process holds it.
 * Two set-ups at once (npm start beside npm test) would otherwise write the same tree.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} body
 * @param {(message: string) => void} [onWait]
 * @returns {Promise<T>}
 */
export async function withLock(file, body, onWait) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  for (let waited = false; !takeLock(file); waited = true) {
    const holder = readLock(file);
    if (holder && (holder.name !== ownName(file) || !isAlive(holder.pid))) {
      fs.rmSync(file, { force: true });
      continue;
    }
    if (holder && !waited) onWait?.(`waiting for process ${holder.pid}, which holds ${file}`);
    await sleep(300);
  }
  try {
    return await body();
  } finally {
    fs.rmSync(file, { force: true });
  }
}

/** A link appears with its content: nobody ever reads a lock file without the holder's id. */
function takeLock(file) {
  const own = `${file}.${process.pid}`;
  fs.writeFileSync(own, `${process.pid}\n${ownName(file)}`);
  try {
    fs.linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.rmSync(own);
  }
}

/** A lock that was copied with its folder while it was held is nobody's: it names another place. */
function ownName(file) {
  return path.join(fs.realpathSync(path.dirname(file)), path.basename(file));
}

/** The holder's process id and the lock that it holds; null when the lock was given back meanwhile. */
function readLock(file) {
  try {
    // set-ups of earlier versions wrote the id alone
    const [pid, name = ownName(file)] = fs.readFileSync(file, 'utf8').split('\n', 2);
    return { pid: Number(pid), name };
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Runs main when the module is the program; prints a PrepareError as plain text.
 * @param {string} moduleUrl import.meta.url of the caller
 * @param {(args: string[]) => Promise<void>} main
 */
export async function cli(moduleUrl, main) {
  const { pathToFileURL } = await import('node:url');
  if (!process.argv[1] || moduleUrl !== pathToFileURL(fs.realpathSync(process.argv[1])).href) return;
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof PrepareError ? `error: ${error.message}` : error);
    process.exitCode = 1;
  }
}
