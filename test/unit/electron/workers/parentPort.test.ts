import { expect, onTestFinished, test } from 'vitest';
import { openParentPort } from '@/electron/workers/parentPort';

test('Ctrl-C in a terminal does not end a forked engine before its parent does', () => {
  const known = process.listeners('SIGINT');
  const knownDisconnect = process.listeners('disconnect');
  onTestFinished(() => {
    for (const one of process.listeners('SIGINT')) if (!known.includes(one)) process.off('SIGINT', one);
    for (const one of process.listeners('disconnect'))
      if (!knownDisconnect.includes(one)) process.off('disconnect', one);
  });
  openParentPort();
  // without a listener of its own Node ends at SIGINT
  expect(process.listenerCount('SIGINT')).toBe(known.length + 1);
});
