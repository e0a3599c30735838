/** What the engine throws has a code, whoever threw it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toEngineError } from '@/electron/engine/hints';

function thrownBy(task: () => unknown): unknown {
  try {
    return task();
  } catch (error) {
    return error;
  }
}

test('trouble of the system keeps its words and has the code of such trouble, not that of a bug', () => {
  const long = thrownBy(() => readFileSync(`/${'x'.repeat(4096)}`));
  expect(toEngineError(long)).toMatchObject({ code: 'storage-failed', hint: 'Choose a shorter one.' });
  expect(toEngineError(Object.assign(new Error('none left'), { code: 'out-of-memory' }))).toMatchObject({
    ...{ code: 'out-of-memory', message: 'none left', hint: expect.stringContaining('shorter context') },
  });
  expect(toEngineError(new TypeError('x is not a function'))).toMatchObject({ code: 'internal' });
});
