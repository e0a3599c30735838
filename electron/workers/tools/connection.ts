/** One MCP server, by whichever way it is reached: its tools, and calls of them. Whatever it sends is bounded in size and time. */
import { msg } from '@lingui/core/runtime-macro';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { ConcertinaError, messageOf } from '../../contract/errors';
import type { ResultFile, ServerPlace, ServerTools, ToolResult } from '../../contract/tools/process';
import { argumentsIn, type Tool, toolLimits, toolSchema } from '../../contract/tools/tools';
import { ServerProcess } from './serverProcess';

/** pages of a list of tools */
const mostPages = 50;
/** objects in objects of a schema, and of a result: what is deeper could not be written out */
const deepestSchema = 40;
const deepestResult = 1000;

interface Listener {
  /** of its process; null: there is none any more */
  child(pid: number | null): void;
  /** it ended, or was ended, when nobody asked for that */
  gone(why: string): void;
}

export class Connection {
  private readonly client: Client;
  private readonly process: ServerProcess | null;
  private closing = false;

  constructor(
    private readonly place: ServerPlace,
    listener: Listener,
  ) {
    // no capabilities: it can ask neither for the model, nor for a person, nor for folders
    this.client = new Client({ name: 'concertina', version: '1' }, { capabilities: {} });
    this.process = place.kind === 'command' ? new ServerProcess(place, listener.child) : null;
    this.client.onclose = () => {
      if (!this.closing) listener.gone(this.endText());
    };
  }

  static notConnected(): ConcertinaError {
    return new ConcertinaError('not-found', msg`The server is not running.`);
  }

  async open(timeoutMs: number): Promise<void> {
    await this.asked(() => this.client.connect(this.transport(), { timeout: timeoutMs }));
  }

  /** Tools that cannot be used are left out, and why is said. */
  async tools(timeoutMs: number): Promise<ServerTools> {
    const { name = '', version = '', title } = this.client.getServerVersion() ?? {};
    const tools = new Map<string, Tool>();
    const refused: string[] = [];
    const refuse = (why: string) => refused.length < 100 && refused.push(why);
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await this.asked(() =>
        this.client.request({ method: 'tools/list', params }, listSchema, { timeout: timeoutMs }),
      );
      for (const one of answer.tools) {
        const read = toolIn(one);
        if (typeof read === 'string') refuse(read);
        else if (tools.has(read.tool)) refuse(`${read.tool} is there twice; the first one counts.`);
        else if (tools.size < toolLimits.toolsOfServer) tools.set(read.tool, read);
        else refuse(`${read.tool} is left out: there are more than ${toolLimits.toolsOfServer} tools.`);
      }
      cursor = answer.nextCursor;
      if (cursor === undefined || tools.size >= toolLimits.toolsOfServer) break;
    }
    return { title: line(title ?? name, 200), version: line(version, 100), tools: [...tools.values()], refused };
  }

  async call(tool: string, given: string, timeoutMs: number, signal: AbortSignal): Promise<ToolResult> {
    const params = { name: tool, arguments: argumentsIn(given) };
    if (params.arguments === null) {
      throw new ConcertinaError('bad-request', msg`The arguments are not a JSON object.`);
    }
    const answer = await this.asked(() =>
      this.client.request({ method: 'tools/call', params }, resultSchema, { timeout: timeoutMs, signal }),
    ).catch((error: unknown) => {
      throw signal.aborted ? new ConcertinaError('cancelled', msg`The call was canceled.`) : error;
    });
    return { failed: answer.isError === true, ...contentOf(answer) };
  }

  async close(): Promise<void> {
    this.closing = true;
    await this.client.close().catch(() => undefined);
    await this.process?.close();
  }

  private transport() {
    if (this.process) return this.process;
    const { url, headers } = this.place as Extract<ServerPlace, { kind: 'address' }>;
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch: boundedFetch });
  }

  /**
   * What fails becomes a sentence without the secrets of the server. `request` and not `listTools` or `callTool` of the client,
   * which compile its schemas: a pattern of theirs can take for ever.
   */
  private async asked<T>(request: () => Promise<T>): Promise<T> {
    if (this.process) this.process.messages = 0;
    try {
      return await request();
    } catch (error) {
      if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) {
        throw new ConcertinaError(
          'network-failed',
          msg`The server did not answer in time.`,
          msg`Give it more time in its settings, or look whether it works.`,
        );
      }
      if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) {
        throw new ConcertinaError(
          'bad-request',
          msg`The server answered with an error: ${{ why: this.safe(error.message) }}`,
        );
      }
      // the client has a zod of its own
      if (error instanceof Error && /ZodError$/.test(error.name)) {
        throw new ConcertinaError('bad-request', msg`The server sent an answer that makes no sense in MCP.`);
      }
      const why = this.process?.ended ? this.endText() : this.safe(messageOf(error));
      throw new ConcertinaError(
        'network-failed',
        msg`The server cannot be used: ${{ why }}`,
        msg`Look at its command or address in the settings.`,
      );
    }
  }

  private endText(): string {
    if (!this.process) return 'the connection was closed';
    const { ended, output } = this.process;
    const last = this.safe(output.trim().split('\n').slice(-5).join('\n'));
    return `${ended || 'it ended'}${last ? `. It wrote last:\n${last}` : ''}`;
  }

  private safe(text: string): string {
    const secrets = Object.values(this.place.kind === 'command' ? this.place.environment : this.place.headers);
    let safe = text.slice(-2000);
    for (const secret of secrets) if (secret.length >= 4) safe = safe.replaceAll(secret, '•••');
    return safe;
  }
}

// What a server sends, as far as anything is made of it.

const listSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().max(10_000).optional() });

const foundSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()),
  execution: z.object({ taskSupport: z.string() }).optional().catch(undefined),
  annotations: z
    .object({
      readOnlyHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
      openWorldHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** The tool, or why it cannot be used. */
function toolIn(value: unknown): Tool | string {
  const found = foundSchema.safeParse(value).data;
  const name = line(String((value as { name?: unknown } | null)?.name ?? 'A tool without a name'), 60);
  if (!found) return `${name} is left out: it is not described as MCP says.`;
  const { description = '', inputSchema, annotations = {}, execution } = found;
  if (execution?.taskSupport === 'required')
    return `${name} is left out: it runs as a task (MCP), which is not supported here.`;
  if (found.name.length > toolLimits.toolName || found.name === '') return `${name} is left out: its name is too long.`;
  if (description.length > toolLimits.description)
    return `${name} is left out: its description has more than ${toolLimits.description} characters.`;
  if (isDeeper(inputSchema, deepestSchema) || JSON.stringify(inputSchema).length > toolLimits.schema)
    return `${name} is left out: the schema of its arguments is too large.`;
  const tool = {
    ...{ tool: found.name, description, schema: inputSchema },
    hints: {
      readOnly: annotations.readOnlyHint ?? null,
      destructive: annotations.destructiveHint ?? null,
      openWorld: annotations.openWorldHint ?? null,
    },
  };
  return toolSchema.safeParse(tool).data ?? `${name} is left out: it cannot be read.`;
}

/** Without calling itself: what is too deep would end the process. */
function isDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= most) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

function line(text: string, most: number): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, most);
}

const resultSchema = z.object({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

const partSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string().max(200) }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({
      ...{ uri: z.string(), text: z.string().optional(), blob: z.string().optional() },
      mimeType: z.string().max(200).optional(),
    }),
  }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().optional() }),
]);

/** As the model reads it. What is no text is named there, and comes as a file. */
function contentOf({ content, structuredContent }: z.infer<typeof resultSchema>): Pick<ToolResult, 'text' | 'files'> {
  const files: ResultFile[] = [];
  const kept = (what: string, data: string, name: string): string => {
    const decodes = data.length > 0 && z.base64().safeParse(data).success;
    if (!decodes || files.length === toolLimits.filesOfResult) return `[${what} was left out.]`;
    files.push({ name, data });
    return `[${name}]`;
  };
  const parts = content.map((one, index) => {
    const part = partSchema.safeParse(one).data;
    if (!part) return '[A part of a kind that is not known here was left out.]';
    if (part.type === 'text') return part.text;
    if (part.type === 'resource_link') return `[${part.name ?? 'Resource'}: ${part.uri}]`;
    if (part.type !== 'resource')
      return kept(part.type === 'image' ? 'An image' : 'Sound', part.data, nameOf(part.type, index, part.mimeType));
    const { uri, text, blob, mimeType = '' } = part.resource;
    if (text !== undefined || blob === undefined) return text ?? `[${line(uri, 200)}]`;
    const own = /([^/\\?#]+)(?:[?#].*)?$/.exec(uri)?.[1]?.replace(/[^\p{L}\p{N}._ -]+/gu, '_') ?? '';
    return kept('A file', blob, /\.\w+$/.test(own) ? own.slice(-80) : nameOf('file', index, mimeType));
  });
  const text =
    parts.length === 0 && structuredContent !== undefined ? structuredText(structuredContent) : parts.join('\n');
  return { text: text.toWellFormed().slice(0, toolLimits.messageBytes), files };
}

function structuredText(content: unknown): string {
  return isDeeper(content, deepestResult) ? '[The result is nested too deeply to be read.]' : JSON.stringify(content);
}

/** Endings that are not the second half of the MIME type. */
const endings = new Map(Object.entries({ jpeg: 'jpg', 'svg+xml': 'svg', mpeg: 'mp3', plain: 'txt', 'x-wav': 'wav' }));

function nameOf(what: string, index: number, mimeType: string): string {
  const second = /^[\w.-]+\/([\w.+-]{1,20})/.exec(mimeType)?.[1]?.toLowerCase() ?? '';
  const ending = endings.get(second) ?? (/^[a-z0-9]+$/.test(second) ? second : 'bin');
  return `${what}-${index + 1}.${ending}`;
}

/** bytes of all messages of one answer */
const mostOfStream = 8 * toolLimits.messageBytes;

/** Ends an answer whose body, or one event of a stream of them, is longer than a message may be. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.body) return response;
  const stream = (response.headers.get('content-type') ?? '').includes('text/event-stream');
  let bytes = 0;
  let all = 0;
  let lastSign = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (const sign of stream ? chunk : []) {
          // two line ends in a row end an event
          if (sign === 10 && lastSign === 10) bytes = 0;
          if (sign !== 13) lastSign = sign;
        }
        bytes += chunk.length;
        all += chunk.length;
        if (bytes > toolLimits.messageBytes || all > mostOfStream)
          controller.error(new Error(`it sent a message of more than ${toolLimits.messageBytes / 1024 ** 2} MiB`));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}
