/** What is packaged of models: electron-builder takes the whole of assets/models. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { smallModel, tinyModel } from '../models.mjs';

test('assets/models holds the built-in model, its card and its sources, and no other model', () => {
  expect(readdirSync(path.dirname(smallModel)).sort()).toEqual(['README.md', 'SOURCES.md', path.basename(smallModel)]);
  expect(existsSync(tinyModel)).toBe(true);
});
