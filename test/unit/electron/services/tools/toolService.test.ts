/** What a person is asked before a program runs as a server. */
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { ServerDraft } from '@/electron/contract/tools/operations';
import { Emitter } from '@/electron/services/lib/emitter';
import { Unsaved } from '@/electron/services/lib/unsaved';
import { ServerStore } from '@/electron/services/tools/serverStore';
import type { ToolHost } from '@/electron/services/tools/toolHost';
import { ToolService } from '@/electron/services/tools/toolService';
import { temporaryFolder } from '@/test/fixtures/temporary';

const found = { title: '', version: '', tools: [], refused: [] };

async function setUp(place: Partial<Extract<ServerDraft['place'], { kind: 'command' }>>, answer = true) {
  const store = new ServerStore(join(await temporaryFolder(), 'tools.json'), null, new Unsaved());
  await store.load();
  const call = vi.fn(async () => found);
  const host = { call, gone: new Emitter(), ended: new Emitter(), isRunning: true } as unknown as ToolHost;
  const confirm = vi.fn(async (_name: string, _command: string) => answer);
  const unused = {} as never;
  const parts = { chats: unused, engine: unused, systemPrompt: () => '', confirm };
  const log = { warn: vi.fn() } as never;
  const service = new ToolService(store, host, parts, log);
  const draft: ServerDraft = {
    name: 'Files',
    place: { kind: 'command', command: 'npx', args: ['-y', 'my files'], folder: '', ...place },
    secrets: { LD_PRELOAD: '/tmp/x.so' },
    timeoutSeconds: 60,
  };
  const { serverId } = await service.save({ serverId: null, draft });
  return { service, serverId, confirm, call };
}

it('the dialog has the whole line, the folder and the names of variables, without their values', async () => {
  const { service, serverId, confirm, call } = await setUp({ folder: '/srv/a b' });
  await service.connect(serverId);
  expect(confirm).toHaveBeenCalledExactlyOnceWith('Files', 'cd "/srv/a b" && LD_PRELOAD=••• npx -y "my files"');
  expect(call).toHaveBeenCalledOnce();
  // not asked again
  await service.connect(serverId);
  expect(confirm).toHaveBeenCalledOnce();
});

it('a program that is not allowed is not run', async () => {
  const { service, serverId, call } = await setUp({}, false);
  await expect(service.connect(serverId)).rejects.toThrow('The program was not allowed to run.');
  expect(call).not.toHaveBeenCalled();
});

it('a line that the dialog could not show in full is refused without a question', async () => {
  const { service, serverId, confirm, call } = await setUp({ args: ['-c', `${' '.repeat(1500)}rm -rf ~`] });
  await expect(service.connect(serverId)).rejects.toThrow('too long to be shown in full');
  expect(confirm).not.toHaveBeenCalled();
  expect(call).not.toHaveBeenCalled();
});
