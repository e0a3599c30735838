import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ChatStore } from '../../../../../electron/main/services/chatStore';
import { Emitter } from '../../../../../electron/main/services/emitter';
import { silentLogger } from '../../../../../electron/main/services/logger';
import { type AnswerEngine, TurnService } from '../../../../../electron/main/services/turnService';
import type { StreamFrame } from '../../../../../electron/shared/engine';
import { ConcertinaError } from '../../../../../electron/shared/errors';
import { settingsSchema } from '../../../../../electron/shared/settings';
import { temporaryFolder } from '../../../../fixtures/temporary';

test('a title that cannot be written does not leave a question without the end of its answer', async () => {
  const folder = await temporaryFolder();
  const store = new ChatStore(join(folder, 'chats'), join(folder, 'trash'));
  await store.load();
  const engine: AnswerEngine = {
    frames: new Emitter<StreamFrame>(),
    requireUsable: () => undefined,
    generate: () => Promise.reject(new ConcertinaError('cancelled', 'Stopped.')),
    whenReady: async () => undefined,
    countTokens: async () => ({ tokens: 1 }),
    contextSize: () => 512,
    modelName: () => 'Tiny',
  };
  const questions = { prompt: async () => [], attachments: async () => [] };
  const turns = new TurnService(store, engine, () => settingsSchema.parse({}), questions, silentLogger);
  const { id } = await store.create();
  vi.spyOn(store, 'rename').mockRejectedValueOnce(new ConcertinaError('storage-failed', 'The disk is full.'));
  await turns.send(id, null, 'Why?');
  await turns.close();
  expect((await store.open(id)).messages.map(({ stopReason }) => stopReason)).toEqual([null, 'cancelled']);
});
