// Git plumbing over the pristine bare repository: trees, never commits, so that no user name is needed.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PRISTINE } from './paths.mjs';
import { must, run } from './process.mjs';

/**
 * A work tree with an index of its own. GIT_DIR is always given: the folders lie inside this
 * project's repository, where a bare `git apply` would silently skip every file.
 */
export class WorkTree {
  /**
   * @param {string} folder
   * @param {{repository?: string, alsoFrom?: string}} [options] repository: a bare one; alsoFrom: another whose objects it may read
   */
  constructor(folder, { repository = PRISTINE, alsoFrom } = {}) {
    this.folder = folder;
    this.scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-git-'));
    this.options = {
      cwd: folder,
      env: {
        GIT_DIR: repository,
        ...(alsoFrom && { GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(alsoFrom, 'objects') }),
        GIT_WORK_TREE: folder,
        GIT_INDEX_FILE: path.join(this.scratch, 'index'),
        GIT_CONFIG_GLOBAL: os.devNull,
        GIT_CONFIG_NOSYSTEM: '1',
      },
    };
  }

  /** Must succeed; returns standard output. */
  git(what, ...args) {
    return must(what, 'git', ['-c', 'core.autocrlf=false', ...args], this.options);
  }

  /** May fail; returns code and output. */
  tryGit(...args) {
    return run('git', ['-c', 'core.autocrlf=false', ...args], this.options);
  }

  async writeTree() {
    return (await this.git('write the tree', 'write-tree')).trim();
  }

  /** Tree id of what lies in the folder now, restricted to the files the given tree knows plus new unignored ones. */
  async snapshot(baseTree) {
    await this.git('read the tree', 'read-tree', baseTree);
    await this.git('index the folder', 'add', '--all', '.');
    return this.writeTree();
  }

  dispose() {
    fs.rmSync(this.scratch, { recursive: true, force: true });
  }
}
