/** Servers as they are kept, and what other apps' JSON makes of them: secrets stay where they belong. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ServerDraft } from '@/electron/contract/tools/operations';
import { named } from '@/electron/contract/tools/tools';
import { Unsaved } from '@/electron/services/lib/unsaved';
import { ServerStore, serversIn } from '@/electron/services/tools/serverStore';
import { temporaryFolder } from '@/test/fixtures/temporary';

const draft: ServerDraft = {
  name: 'Files',
  place: { kind: 'command', command: 'npx', args: ['-y', 'files'], folder: '' },
  secrets: { TOKEN: 'sk-secret-value' },
  timeoutSeconds: 60,
};

/** Turns the letters around; a stand-in for the keyring of a system. */
const keyring = {
  available: () => true,
  encrypt: (text: string) => Buffer.from([...text].reverse().join('')),
  decrypt: (data: Buffer) => [...data.toString()].reverse().join(''),
};

async function storeWith(ring: typeof keyring | null) {
  const path = join(await temporaryFolder(), 'tools.json');
  const open = async () => {
    const store = new ServerStore(path, ring, new Unsaved());
    await store.load();
    return store;
  };
  return { path, open, store: await open() };
}

it('with a keyring no secret is readable in the file, and it is there after a restart', async () => {
  const { path, open, store } = await storeWith(keyring);
  const id = await store.save(null, draft);
  expect(await readFile(path, 'utf8')).not.toContain('sk-secret-value');
  const again = await open();
  expect(again.placeOf(again.get(id))).toMatchObject({ environment: { TOKEN: 'sk-secret-value' } });
  expect(again.secretsIn).toBe('keyring');
  expect(again.secrets()).toEqual(['sk-secret-value']);
});

it('without one it is said that they lie in the file', async () => {
  const { path, store } = await storeWith(null);
  await store.save(null, draft);
  expect(store.secretsIn).toBe('file');
  expect(await readFile(path, 'utf8')).toContain('sk-secret-value');
});

it('a value that is not written again stays; what was allowed of another command does not', async () => {
  const { store } = await storeWith(keyring);
  const id = await store.save(null, draft);
  await store.allow(id, 'read', true);
  await store.confirm(id);
  await store.save(id, { ...draft, name: 'My files', secrets: { TOKEN: null } });
  expect(store.get(id)).toMatchObject({ name: 'My files', allowed: ['read'], confirmed: true });
  expect(store.placeOf(store.get(id))).toMatchObject({ environment: { TOKEN: 'sk-secret-value' } });
  await store.save(id, { ...draft, secrets: { TOKEN: null, NODE_OPTIONS: '--require /tmp/x.js' } });
  expect(store.get(id)).toMatchObject({ allowed: [], confirmed: false });
  await expect(store.save(null, draft)).rejects.toThrow('Files already');
});

it('reads the common form, and says of each entry why it cannot be used', () => {
  const { drafts, refused } = serversIn(
    JSON.stringify({
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'files'], env: { PORT: 1 }, cwd: '/tmp' },
        web: { url: 'https://example.org/mcp', headers: { Authorization: 'Bearer x' } },
        other: { type: 'streamable-http', serverUrl: 'http://127.0.0.1:1/mcp' },
        old: { type: 'sse', url: 'https://example.org/sse' },
        none: {},
        wrong: { command: 7 },
        file: { url: 'file:///etc/passwd' },
      },
    }),
  );
  expect(drafts.map(({ name, place, secrets }) => [name, place, secrets])).toEqual([
    ['files', { kind: 'command', command: 'npx', args: ['-y', 'files'], folder: '/tmp' }, { PORT: '1' }],
    ['web', { kind: 'address', url: 'https://example.org/mcp' }, { Authorization: 'Bearer x' }],
    ['other', { kind: 'address', url: 'http://127.0.0.1:1/mcp' }, {}],
  ]);
  expect(refused.map(({ name }) => name)).toEqual(['old', 'none', 'wrong', 'file']);
  expect(() => serversIn('{"mcpServers"')).toThrow('no JSON');
  expect(() => serversIn('[]')).toThrow('no list of MCP servers');
});

it('tools of one name in two servers have two names for the model, whatever signs are in them', () => {
  const hints = { readOnly: null, destructive: null, openWorld: null };
  const of = (server: string, tool: string) => ({ serverId: server, server, tool, description: '', schema: {}, hints });
  const names = (...list: [string, string][]) =>
    named(list.map(([server, tool]) => of(server, tool))).map(({ name }) => name);
  expect(names(['a', 'read'], ['b', 'write'])).toEqual(['read', 'write']);
  expect(names(['a', 'read'], ['b', 'read'])).toEqual(['a_read', 'b_read']);
  expect(names(['ä ö', 'read'], ['ü', 'read'], ['c', 'rm -rf'])).toEqual(['__read', '__read_2', 'rm_-rf']);
});
