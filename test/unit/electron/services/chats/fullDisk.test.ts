/** A disk that is really full while an answer is written: nothing is lost, and it is told; where this process may mount one. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { afterPowerCut, setUpServices } from '@/test/fixtures/services';
import { canMount, fillDisk, smallDisk, unmountDisk } from '@/test/fixtures/smallDisk';

// elsewhere the double of lib/unsaved.test.ts has to do
test.runIf(canMount)('a question on a full disk gets its answer, which is written when there is room', async () => {
  const disk = smallDisk(4 * 2 ** 20);
  if (!disk) throw new Error('a disk could be mounted before');
  onTestFinished(() => unmountDisk(disk));
  const { call, send, final, payloads, services } = await setUpServices({ data: disk });
  const first = await send('What did Tom see?');
  const before = await final(first.turn);
  const free = fillDisk(disk);
  const question = {
    chatId: first.id,
    parentId: before.id,
    text: `And then? ${'word '.repeat(2000)}`,
    attachments: [],
  };
  const answer = await final(await call('turns.send', question));
  expect(answer).toMatchObject({ stopReason: 'end-of-turn', error: null });
  const message = 'The disk is full: this answer is not saved yet.';
  expect(payloads('onUnsaved').at(-1)?.error).toMatchObject({ code: 'disk-full', message });
  expect((await call('app.unsaved', undefined)).error?.hint).toBe('Free some space; it is saved then.');
  expect((await call('app.diagnostics', undefined)).text).toMatch(/could not be written: ENOSPC/);
  expect((await call('chats.open', { chatId: first.id })).messages.at(-1)?.text).toBe(answer.text);
  await call('settings.update', { theme: 'dark' });
  expect((await call('settings.get', undefined)).theme).toBe('dark');
  free();
  // what was cut on disk is whole: the record before it is the last one
  expect((await afterPowerCut(disk, first.id)).messages).toHaveLength(2);
  await services.unsaved.retry();
  expect(payloads('onUnsaved').at(-1)).toEqual({ error: null });
  const stored = await afterPowerCut(disk, first.id);
  expect(stored).toMatchObject({ damagedLines: 0 });
  expect(stored.messages.map(({ text }) => text)).toEqual([
    ...['What did Tom see?', before.text],
    ...[question.text, answer.text],
  ]);
  expect(readdirSync(join(disk, 'chats')).filter((name) => name.includes('damaged'))).toEqual([]);
});
