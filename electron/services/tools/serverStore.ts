/**
 * The MCP servers that a person has set up. Values of variables and headers are encrypted by the keyring of the system where there is
 * one; else they lie in this file, which only its owner may read, and the window says so. They go to the process that talks to
 * servers and nowhere else.
 */
import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError, issueText } from '../../contract/errors';
import { idSchema } from '../../contract/limits';
import { type ServerDraft, serverDraftSchema, toolStateSchema } from '../../contract/tools/operations';
import type { ServerPlace } from '../../contract/tools/process';
import { toolLimits } from '../../contract/tools/tools';
import type { Keyring } from '../hub/token';
import { JsonFile } from '../lib/jsonFile';
import type { Unsaved } from '../lib/unsaved';

const storedSchema = serverDraftSchema.omit({ secrets: true }).extend({
  id: idSchema,
  secretNames: z.array(z.string()),
  /** JSON of the values by name: `sealed` by the keyring, in base64, or `open` */
  secrets: z.discriminatedUnion('kept', [
    z.object({ kept: z.literal('sealed'), data: z.string() }),
    z.object({ kept: z.literal('open'), values: z.record(z.string(), z.string()) }),
  ]),
  allowed: z.array(z.string()).default([]),
  /** of a program: a person has said that it may run. Another command is asked about again */
  confirmed: z.boolean().default(false),
});
export type StoredServer = z.infer<typeof storedSchema>;

const fileSchema = z.object({
  servers: z.array(storedSchema).max(toolLimits.servers).default([]),
  rounds: toolStateSchema.shape.rounds.default(10),
});

export class ServerStore {
  private readonly file: JsonFile<z.infer<typeof fileSchema>>;

  constructor(
    path: string,
    private readonly keyring: Keyring | null,
    unsaved: Unsaved,
  ) {
    this.file = new JsonFile({
      ...{ path, version: 1, schema: fileSchema, initial: fileSchema.parse({}) },
      asideNotice: (name) => `The list of tool servers could not be read and was kept as ${name}. Set them up again.`,
    });
    this.file.keepIn(unsaved, 'the list of tool servers');
  }

  get notices(): readonly string[] {
    return this.file.notices;
  }

  get changed() {
    return this.file.changed;
  }

  load(): Promise<void> {
    return this.file.load();
  }

  list(): StoredServer[] {
    return this.file.get().servers;
  }

  get rounds(): number {
    return this.file.get().rounds;
  }

  get secretsIn(): 'keyring' | 'file' {
    return this.keyring?.available() ? 'keyring' : 'file';
  }

  get(id: string): StoredServer {
    const server = this.list().find((one) => one.id === id);
    if (server) return server;
    throw new ConcertinaError(
      'not-found',
      msg`This tool server is not there any more.`,
      msg`Add it again in the settings.`,
    );
  }

  /** With its secrets, for the process that talks to it. */
  placeOf(server: StoredServer): ServerPlace {
    const values = this.valuesOf(server);
    const { place } = server;
    return place.kind === 'command' ? { ...place, environment: values } : { ...place, headers: values };
  }

  /** Of all servers; for what may hold none of them. */
  secrets(): string[] {
    return this.list().flatMap((server) => {
      try {
        return Object.values(this.valuesOf(server));
      } catch {
        return [];
      }
    });
  }

  /** `id` null: a new one. What was allowed of it counts no more when it is another program or address. */
  async save(id: string | null, draft: ServerDraft): Promise<string> {
    const before = id === null ? null : this.get(id);
    const { secrets, ...rest } = draft;
    const name = draft.name;
    if (this.list().some((one) => one.id !== id && one.name === name)) {
      throw new ConcertinaError(
        'bad-request',
        msg`There is a tool server named ${{ name }} already.`,
        msg`Choose another name.`,
      );
    }
    if (before === null && this.list().length >= toolLimits.servers) {
      throw new ConcertinaError(
        'bad-request',
        msg`There are ${{ most: toolLimits.servers }} tool servers already.`,
        msg`Remove one first.`,
      );
    }
    const kept = before ? this.valuesOf(before) : {};
    const values: Record<string, string> = {};
    for (const [key, value] of Object.entries(secrets)) values[key] = value ?? kept[key] ?? '';
    // a variable can make another program of it, too
    const same = before && JSON.stringify([before.place, kept]) === JSON.stringify([draft.place, values]);
    const server: StoredServer = {
      ...{ ...rest, id: id ?? randomUUID(), secretNames: Object.keys(values), secrets: this.sealed(values) },
      ...{ allowed: same ? before.allowed : [], confirmed: same ? before.confirmed : false },
    };
    await this.file.change((value) => ({
      ...value,
      servers: before ? value.servers.map((one) => (one.id === id ? server : one)) : [...value.servers, server],
    }));
    return server.id;
  }

  async remove(id: string): Promise<void> {
    await this.file.change((value) => ({ ...value, servers: value.servers.filter((one) => one.id !== id) }));
  }

  async setRounds(rounds: number): Promise<void> {
    await this.file.change((value) => ({ ...value, rounds }));
  }

  async confirm(id: string): Promise<void> {
    await this.change(id, (server) => ({ ...server, confirmed: true }));
  }

  async allow(id: string, tool: string, allowed: boolean): Promise<void> {
    await this.change(id, (server) => {
      const others = server.allowed.filter((name) => name !== tool);
      return { ...server, allowed: allowed ? [...others, tool] : others };
    });
  }

  private async change(id: string, step: (server: StoredServer) => StoredServer): Promise<void> {
    const servers = (list: StoredServer[]) => list.map((one) => (one.id === id ? step(one) : one));
    await this.file.change((value) => ({ ...value, servers: servers(value.servers) }));
  }

  private sealed(values: Record<string, string>): StoredServer['secrets'] {
    if (!this.keyring?.available()) return { kept: 'open', values };
    return { kept: 'sealed', data: this.keyring.encrypt(JSON.stringify(values)).toString('base64') };
  }

  private valuesOf({ name, secrets }: StoredServer): Record<string, string> {
    if (secrets.kept === 'open') return secrets.values;
    try {
      const text = this.keyring?.decrypt(Buffer.from(secrets.data, 'base64')) ?? '';
      return z.record(z.string(), z.string()).parse(JSON.parse(text));
    } catch {
      throw new ConcertinaError(
        'access-denied',
        msg`The variables and headers of ${{ name }} cannot be decrypted: the keyring of the system is another one, or locked.`,
        msg`Write them again in the settings.`,
      );
    }
  }
}

// The common form, as other apps have it: {"mcpServers": {"name": {"command", "args", "env", "cwd"} or {"url", "headers"}}}.

const commonSchema = z.object({ mcpServers: z.record(z.string(), z.unknown()) });
const texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional();
const foreignSchema = z.object({
  type: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: texts,
  cwd: z.string().optional(),
  url: z.string().optional(),
  serverUrl: z.string().optional(),
  headers: texts,
});

export interface FoundServers {
  drafts: ServerDraft[];
  refused: { name: string; why: string }[];
}

/** Throws `bad-request` when there are none in it. */
export function serversIn(text: string): FoundServers {
  const found = commonSchema.safeParse(parsed(text));
  if (!found.success) {
    throw new ConcertinaError(
      'bad-request',
      msg`This is no list of MCP servers.`,
      msg`It has the form ${{ form: '{"mcpServers": {"name": {"command": "npx", "args": ["..."]}}}' }}.`,
    );
  }
  const drafts: ServerDraft[] = [];
  const refused: FoundServers['refused'] = [];
  for (const [name, value] of Object.entries(found.data.mcpServers)) {
    const draft = draftOf(name, value);
    if (typeof draft === 'string') refused.push({ name: name.slice(0, 80), why: draft });
    else drafts.push(draft);
  }
  return { drafts, refused };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConcertinaError(
      'bad-request',
      msg`This is no JSON: ${{ error }}`,
      msg`Copy all of it, with the outer braces.`,
    );
  }
}

/** A sentence: why it cannot be used. */
function draftOf(name: string, value: unknown): ServerDraft | string {
  const one = foreignSchema.safeParse(value);
  if (!one.success) return `${issueText(one.error)}.`;
  const { type, command, args = [], env = {}, cwd = '', headers = {} } = one.data;
  const url = one.data.url ?? one.data.serverUrl;
  if (type === 'sse') return 'It speaks the old SSE transport. Only streamable HTTP and commands are supported.';
  if (command === undefined && url === undefined) return 'It has neither a command nor a url.';
  const place = command === undefined ? { kind: 'address', url } : { kind: 'command', command, args, folder: cwd };
  const secrets = command === undefined ? headers : env;
  const draft = serverDraftSchema.safeParse({ name: name.slice(0, 40), place, secrets, timeoutSeconds: 60 });
  return draft.success ? draft.data : `${issueText(draft.error)}.`;
}
