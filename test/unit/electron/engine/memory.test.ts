/** What memory there is: of the machine, and within the limits of control groups, read from a made-up /proc and /sys. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pagesOf } from '@/electron/contract/machine';
import { filePages, groupMemory, residentOf, withProcessMemory } from '@/electron/engine/memory';
import { deviceUse, partMemory } from '@/test/fixtures/samples';

const status = `Name:\tnode
VmRSS:\t   90000 kB
RssAnon:\t   40000 kB
RssFile:\t   49000 kB
RssShmem:\t    1000 kB
`;

test('pages are read from what Linux tells of a process', () => {
  expect(pagesOf(status)).toEqual({ own: 41_000 * 1024, file: 49_000 * 1024 });
  expect(pagesOf('Name:\tkthreadd\n')).toBeNull();
});

test('pages of files that came with the weights are weights, up to what is mapped of them', () => {
  const now = { own: 100, file: 900 };
  expect(residentOf(now, 200, 1000)).toEqual({ own: 100, weights: 700 });
  expect(residentOf(now, 200, 500)).toEqual({ own: 100, weights: 500 });
  expect(residentOf(now, 1000, 500)).toEqual({ own: 100, weights: 0 });
  expect(residentOf(null, 200, 500)).toBeNull();
  expect(residentOf(now, null, 500)).toBeNull();
});

test('the figures of this process are in the memory', () => {
  const context = { memory: () => partMemory, devices: () => [deviceUse] };
  const memory = withProcessMemory(context, [], filePages());
  expect(memory).toMatchObject({ ...partMemory, weightsMapped: 30e6, app: null });
  expect(memory.free).toBeLessThanOrEqual(memory.total);
  if (process.platform === 'linux') {
    expect(memory.resident?.own).toBeGreaterThan(10e6);
    expect(memory.resident?.own).toBeLessThanOrEqual(memory.process * 1.05);
  } else {
    expect(memory.resident).toBeNull();
  }
});

const MiB = 1024 * 1024;

function rootWith(files: Record<string, string>): string {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-groups-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), `${text}\n`);
  }
  return root;
}

const v2 = (folder: string, limit: string, usage: number, cache = 0) => ({
  [`sys/fs/cgroup/${folder}memory.max`]: limit,
  [`sys/fs/cgroup/${folder}memory.current`]: String(usage),
  [`sys/fs/cgroup/${folder}memory.stat`]: `anon 7\ninactive_file ${cache}\nactive_file ${cache}`,
});

test('a container of version 2: limit less usage, page cache counts as free', () => {
  const root = rootWith({ 'proc/self/cgroup': '0::/', ...v2('', String(1000 * MiB), 700 * MiB, 100 * MiB) });
  expect(groupMemory(root)).toEqual({ free: 500 * MiB, total: 1000 * MiB });
});

test('a unit inside limited slices: the tightest of them counts', () => {
  const root = rootWith({
    'proc/self/cgroup': '0::/user.slice/app.service',
    ...v2('user.slice/', String(4000 * MiB), 3900 * MiB),
    ...v2('user.slice/app.service/', String(1000 * MiB), 100 * MiB),
  });
  expect(groupMemory(root)).toEqual({ free: 100 * MiB, total: 1000 * MiB });
});

test('version 1, beside controllers that are not about memory', () => {
  const group = 'sys/fs/cgroup/memory/docker/ab12';
  const root = rootWith({
    'proc/self/cgroup': '9:name=systemd:/x\n4:cpu,cpuacct:/docker/ab12\n3:memory:/docker/ab12\n0::/',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712',
    'sys/fs/cgroup/memory/memory.usage_in_bytes': '12345',
    [`${group}/memory.limit_in_bytes`]: String(2000 * MiB),
    [`${group}/memory.usage_in_bytes`]: String(1900 * MiB),
    [`${group}/memory.stat`]: `cache 1\ntotal_inactive_file ${50 * MiB}\ntotal_active_file ${25 * MiB}`,
  });
  expect(groupMemory(root)).toEqual({ free: 175 * MiB, total: 2000 * MiB });
});

test('a container that sees the path of the host: what is mounted at the top is its own', () => {
  const root = rootWith({
    'proc/self/cgroup': '0::/system.slice/docker-ab12.scope',
    ...v2('', String(512 * MiB), 12 * MiB),
  });
  expect(groupMemory(root)).toEqual({ free: 500 * MiB, total: 512 * MiB });
});

test('no limit: "max", no files, another system, damaged files', () => {
  expect(groupMemory(rootWith({ 'proc/self/cgroup': '0::/', ...v2('', 'max', 5) }))).toBeNull();
  expect(groupMemory(rootWith({ 'proc/self/cgroup': '0::/x' }))).toBeNull();
  expect(groupMemory(rootWith({}))).toBeNull();
  expect(groupMemory(rootWith({ 'proc/self/cgroup': '0::/', 'sys/fs/cgroup/memory.max': '100' }))).toBeNull();
});
