/**
 * What the engine measures of a model before its first answer: several seconds for every test, since each has a data folder of its
 * own. Files are named by the contents that they were measured from, so one run measures each model once.
 */
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';

const shared = path.resolve(import.meta.dirname, '..', '..', 'build', 'e2e-calibrations');

/** Nothing of an earlier build is taken for measured. */
export async function emptyCalibrations(): Promise<void> {
  await rm(shared, { recursive: true, force: true });
  await mkdir(shared, { recursive: true });
}

const inData = (dataDir: string): string => path.join(dataDir, 'calibrations');

/** Before the app starts. */
export async function takeCalibrations(dataDir: string): Promise<void> {
  await copyMissing(shared, inData(dataDir));
}

/** After the app has ended. */
export async function keepCalibrations(dataDir: string): Promise<void> {
  await copyMissing(inData(dataDir), shared);
}

/** The other worker reads and writes beside this one: a file appears whole. */
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
