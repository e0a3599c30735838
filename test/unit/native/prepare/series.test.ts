// The patch series against the pinned llama.cpp: applies, exports unchanged, stays small, fails with a useful message.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WorkTree } from '../../../../native/prepare/git-tree.mjs';
import { checkIntegrity } from '../../../../native/prepare/packages.mjs';
import { exportSeries, parsePatch, readSeries, seriesSize } from '../../../../native/prepare/series.mjs';
import { applySeries, prepareUpstream, readPin } from '../../../../native/prepare/upstream.mjs';

/** Lines that the patches may add to llama.cpp, but for those that are counted apart; see native/patches/README.md. */
const MAX_ADDED_LINES = 47;
/** And to its Metal back end: includes and calls of the hooks in metal/host/mac/turbo-metal.h. */
const MAX_METAL_LINES = 20;
/** And to its Vulkan back end: includes and calls of the hooks in native/vulkan/turbo-vulkan.h. */
const MAX_VULKAN_LINES = 25;
/** And to its CUDA back end: includes and calls of the hooks in native/cuda/turbo-cuda.cuh. */
const MAX_CUDA_LINES = 18;
/** And to its interpreter of chat templates: one include and calls of the hooks in native/template. */
const MAX_TEMPLATE_LINES = 16;
/** And to its server core: a context of ours in place of its own, and the way to its slots (native/server). */
const MAX_SERVER_LINES = 40;

let scratch = '';
beforeEach(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-series-'));
});
afterEach(() => {
  fs.rmSync(scratch, { recursive: true, force: true });
});

describe('patch series', () => {
  beforeAll(async () => {
    await prepareUpstream();
  }, 300_000);

  it('exports from the patched tree as it is in the files', async () => {
    for (const { name, text, exported } of await exportSeries(readPin().commit)) {
      expect(exported, name).toBe(text);
    }
  });

  it('says in each patch why it exists and when it can go', () => {
    for (const { name, text } of readSeries()) {
      const { header, files } = parsePatch(text);
      expect(header, name).toMatch(/^Reason: .+^Kind: .+^Delete when: .+/ms);
      expect(files.length, name).toBeGreaterThan(0);
    }
  });

  it('adds few lines to llama.cpp', () => {
    expect(seriesSize().engine.added).toBeLessThanOrEqual(MAX_ADDED_LINES);
    expect(seriesSize().metal.added).toBeLessThanOrEqual(MAX_METAL_LINES);
    expect(seriesSize().vulkan.added).toBeLessThanOrEqual(MAX_VULKAN_LINES);
    expect(seriesSize().cuda.added).toBeLessThanOrEqual(MAX_CUDA_LINES);
    expect(seriesSize().template.added).toBeLessThanOrEqual(MAX_TEMPLATE_LINES);
    expect(seriesSize().server.added).toBeLessThanOrEqual(MAX_SERVER_LINES);
  });

  /** A work tree with the pinned versions of the files that the patches change. */
  async function pristineFiles(patches: { text: string }[]): Promise<WorkTree> {
    const work = new WorkTree(scratch);
    await work.git('test', 'read-tree', readPin().commit);
    const files = patches.flatMap(({ text }) => parsePatch(text).files);
    await work.git('test', 'checkout-index', '-u', '--', ...files);
    return work;
  }

  it('applies to the pinned commit and gives the patched tree', async () => {
    const { folder, commit } = await prepareUpstream();
    const work = await pristineFiles(readSeries());
    const patched = new WorkTree(folder);
    try {
      await applySeries(work, readSeries(), () => {});
      expect(await work.writeTree()).toBe(await patched.snapshot(commit));
    } finally {
      work.dispose();
      patched.dispose();
    }
  });

  it('stops at a patch that does not apply, with the file, the reason and what to do', async () => {
    const first = readSeries()[0];
    if (!first) throw new Error('the series is empty');
    const broken = path.join(scratch, 'broken.patch');
    fs.writeFileSync(broken, first.text.replace(/^ (#include .+)$/m, ' $1 // not upstream'));
    const work = await pristineFiles([first]);
    try {
      const apply = applySeries(work, [{ name: first.name, file: broken }], () => {});
      await expect(apply).rejects.toThrow(
        /native.patches.types-ggml\.patch does not apply.*patch failed: ggml\/src\/ggml\.c:\d+.*Correct the patch/s,
      );
    } finally {
      work.dispose();
    }
  });
});

it('a tarball is refused and deleted when its hash is not the pinned one', async () => {
  const tarball = path.join(scratch, 'a.tgz');
  fs.writeFileSync(tarball, 'not the tarball');
  await expect(checkIntegrity(tarball, readPin().integrity)).rejects.toThrow(
    /does not match its pinned integrity hash.*Run again/s,
  );
  expect(fs.existsSync(tarball)).toBe(false);
});
