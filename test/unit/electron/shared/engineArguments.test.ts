import { expect, test } from 'vitest';
import { engineArguments, selfTestFolder } from '../../../../electron/shared/engineArguments';

test('the engine process reads what its parent wrote', () => {
  expect(selfTestFolder(['node', 'engine.cjs', ...engineArguments('/home/a b/data=1')])).toBe('/home/a b/data=1');
  expect(selfTestFolder(['node', 'engine.cjs'])).toBe('');
});
