/** What memory there is: of the machine, and within the limits of control groups, read from a made-up /proc and /sys. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pagesOf } from '@/electron/contract/machine';
import { filePages, groupMemory, residentOf, withProcessMemory } from '@/electron/engine/memory';
import { put } from '@/test/fixtures/modelTrees';
import { deviceUse, partMemory } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

const status = `Name:\tnode
VmRSS:\t   90000 kB
RssAnon:\t   40000 kB
RssFile:\t   49000 kB
RssShmem:\t    1000 kB
`;

test('pages are read from what Linux reports of a process', () => {
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
  const context = { memory: () => ({ parts: partMemory, devices: [deviceUse] }) };
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

/** What is read of a machine with these files. */
async function memoryWith(files: Record<string, string>) {
  const root = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await put(join(root, name), `${text}\n`);
  return groupMemory(root);
}

const v2 = (folder: string, limit: string, usage: number, cache = 0) => ({
  [`sys/fs/cgroup/${folder}memory.max`]: limit,
  [`sys/fs/cgroup/${folder}memory.current`]: String(usage),
  [`sys/fs/cgroup/${folder}memory.stat`]: `anon 7\ninactive_file ${cache}\nactive_file ${cache}`,
});

const group = 'sys/fs/cgroup/memory/docker/ab12';

test.each<[string, Record<string, string>, free: number, total: number]>([
  [
    'a container of version 2: limit less usage, page cache counts as free',
    { 'proc/self/cgroup': '0::/', ...v2('', String(1000 * MiB), 700 * MiB, 100 * MiB) },
    ...([500, 1000] as const),
  ],
  [
    'a unit inside limited slices: the tightest of them counts',
    {
      'proc/self/cgroup': '0::/user.slice/app.service',
      ...v2('user.slice/', String(4000 * MiB), 3900 * MiB),
      ...v2('user.slice/app.service/', String(1000 * MiB), 100 * MiB),
    },
    ...([100, 1000] as const),
  ],
  [
    'version 1, beside controllers that are not about memory',
    {
      'proc/self/cgroup': '9:name=systemd:/x\n4:cpu,cpuacct:/docker/ab12\n3:memory:/docker/ab12\n0::/',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712',
      'sys/fs/cgroup/memory/memory.usage_in_bytes': '12345',
      [`${group}/memory.limit_in_bytes`]: String(2000 * MiB),
      [`${group}/memory.usage_in_bytes`]: String(1900 * MiB),
      [`${group}/memory.stat`]: `cache 1\ntotal_inactive_file ${50 * MiB}\ntotal_active_file ${25 * MiB}`,
    },
    ...([175, 2000] as const),
  ],
  [
    'a container that sees the path of the host: what is mounted at the top is its own',
    { 'proc/self/cgroup': '0::/system.slice/docker-ab12.scope', ...v2('', String(512 * MiB), 12 * MiB) },
    ...([500, 512] as const),
  ],
])('%s', async (_, files, free, total) => {
  expect(await memoryWith(files)).toEqual({ free: free * MiB, total: total * MiB });
});

test.each([
  ['"max"', { 'proc/self/cgroup': '0::/', ...v2('', 'max', 5) }],
  ['no such folder', { 'proc/self/cgroup': '0::/x' }],
  ['another system', {}],
  ['damaged files', { 'proc/self/cgroup': '0::/', 'sys/fs/cgroup/memory.max': '100' }],
])('no limit: %s', async (_, files) => expect(await memoryWith(files)).toBeNull());
