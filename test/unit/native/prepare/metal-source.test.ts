// One text of a Metal source: every include once, none left, lines still those of the files.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { amalgamate } from '../../../../native/prepare/metal-source.mjs';

let folder = '';
const file = (name: string) => path.join(folder, name);
const write = (name: string, ...lines: string[]) => {
  fs.mkdirSync(path.dirname(file(name)), { recursive: true });
  fs.writeFileSync(file(name), lines.join('\n'));
};

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-metal-'));
});
afterEach(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

it('puts each include in place once, from the own folder first', () => {
  write('a.metal', '#include <metal_stdlib>', '#include "b.h"', '#include "c.h"', 'last');
  write('b.h', '#pragma once', '#include "c.h"', 'b');
  write('c.h', 'own c');
  write('other/c.h', 'other c');
  const { text, files } = amalgamate(file('a.metal'), { folders: [file('other')] });
  expect(text.split('\n').filter(Boolean)).toEqual(['#include <metal_stdlib>', 'own c', 'b', 'last']);
  expect(files).toEqual([file('a.metal'), file('b.h'), file('c.h')]);
});

it('looks in the folders given', () => {
  write('a.metal', '  #  include "c.h" // why');
  write('other/c.h', 'other c');
  expect(amalgamate(file('a.metal'), { folders: [file('other')] }).text.trim()).toBe('other c');
});

it('stops at an include that is not there', () => {
  write('a.metal', '#include "missing.h"');
  expect(() => amalgamate(file('a.metal'), { folders: [] })).toThrow('"missing.h" is in none of');
});

it('keeps the lines of the files with #line', () => {
  write('a.metal', 'one', '#include "b.h"', 'three');
  write('b.h', 'b1', 'b2');
  const { text } = amalgamate(file('a.metal'), { folders: [], lines: true });
  expect(places(text)).toEqual({ one: 'a.metal:1', b1: 'b.h:1', b2: 'b.h:2', three: 'a.metal:3' });
});

/** What a compiler would say about where each line is. */
function places(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  let name = '';
  let next = 0;
  for (const line of text.split('\n')) {
    const [, at, of] = /^#line (\d+) "(.*)"$/.exec(line) ?? [];
    if (at && of) [name, next] = [path.basename(of), Number(at)];
    else found[line] = `${name}:${next++}`;
  }
  return found;
}
