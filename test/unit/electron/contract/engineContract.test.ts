import { expect, test } from 'vitest';
import { engineArguments, inspectorArguments, isInspector, selfTestFolder } from '@/electron/contract/engineContract';

test('the engine process reads what its parent wrote', () => {
  const argv = ['node', 'engine.cjs', ...engineArguments('/home/a b/data=1')];
  expect([selfTestFolder(argv), isInspector(argv)]).toEqual(['/home/a b/data=1', false]);
  expect(selfTestFolder(['node', 'engine.cjs'])).toBe('');
});

test('so does the process that looks at model files', () => {
  const argv = ['node', 'engine.cjs', ...inspectorArguments('/data')];
  expect([selfTestFolder(argv), isInspector(argv)]).toEqual(['/data', true]);
});
