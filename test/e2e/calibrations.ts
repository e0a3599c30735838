/**
 * What the engine measures of a model before its first answer: several seconds for every test, since each has a data folder of its
 * own. Files are named by the contents that they were measured from, so one run measures each model once. And what was read of the
 * headers of model files, which takes a process.
 */
import { constants, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const shared = path.resolve(import.meta.dirname, '..', '..', 'build', 'e2e-calibrations');

/** Nothing of an earlier build is taken for measured. */
export async function emptyCalibrations(): Promise<void> {
  await rm(shared, { recursive: true, force: true });
  await mkdir(shared, { recursive: true });
}

const headers = 'inspections.json';

const inData = (dataDir: string): string => path.join(dataDir, 'calibrations');

/** Before the app starts. */
export async function takeCalibrations(dataDir: string): Promise<void> {
  await copyMissing(shared, inData(dataDir));
  // there is none yet, or the data folder has its own
  await copyFile(path.join(shared, headers), path.join(dataDir, headers), constants.COPYFILE_EXCL).catch(() => {});
}

/** After the app has ended. */
export async function keepCalibrations(dataDir: string): Promise<void> {
  await copyMissing(inData(dataDir), shared);
  const own = await headersIn(dataDir);
  if (own)
    await writeWhole(headers, JSON.stringify({ ...own, files: { ...(await headersIn(shared))?.files, ...own.files } }));
}

async function headersIn(folder: string): Promise<{ files: Record<string, unknown> } | null> {
  return readFile(path.join(folder, headers), 'utf8').then(JSON.parse, () => null);
}

// The other worker reads and writes beside this one: a file appears whole.

async function writeWhole(name: string, text: string): Promise<void> {
  const part = path.join(shared, `${name}.${process.pid}.part`);
  await writeFile(part, text);
  await rename(part, path.join(shared, name));
}

async function copyMissing(from: string, to: string): Promise<void> {
  const names = (await readdir(from).catch(() => [])).filter((name) => name.endsWith('.calibration'));
  if (names.length === 0) return;
  await mkdir(to, { recursive: true });
  const present = new Set(await readdir(to));
  for (const name of names.filter((candidate) => !present.has(candidate))) {
    const part = path.join(to, `${name}.${process.pid}.part`);
    await copyFile(path.join(from, name), part);
    await rename(part, path.join(to, name));
  }
}
