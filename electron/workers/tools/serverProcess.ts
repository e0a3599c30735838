/** An MCP server that is a program: its process, which leads a group of its own, so that all it started ends with it. */
import type { ChildProcess } from 'node:child_process';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import spawn from 'cross-spawn';
import type { ServerPlace } from '../../contract/tools/process';
import { toolLimits } from '../../contract/tools/tools';
import { endGroup } from '../processGroup';

/** of what it writes for people, the end is kept for an error */
const keptOutput = 4000;
/** lines that are no message: some programs greet on stdout, one that goes on is no MCP server */
const mostBadLines = 200;
/** messages between two requests of ours: progress and logs are fine, a flood is not */
const mostMessages = 5000;
const endWithinMs = 1500;

type Command = Extract<ServerPlace, { kind: 'command' }>;

export class ServerProcess implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  /** the end of what it wrote to stderr */
  output = '';
  /** how it ended; '': it runs */
  ended = '';
  private child: ChildProcess | null = null;
  /** of the line that is not complete, and how long they are together */
  private pieces: Buffer[] = [];
  private bytes = 0;
  private badLines = 0;
  /** since the last request */
  messages = 0;

  constructor(
    private readonly place: Command,
    private readonly onChild: (pid: number | null) => void,
  ) {}

  start(): Promise<void> {
    const { command, args, folder, environment } = this.place;
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        // nothing of the shell that the app was started from but what every program needs
        env: { ...getDefaultEnvironment(), ...environment },
        ...(folder && { cwd: folder }),
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      this.child = child;
      child.once('error', (error) => {
        this.ended ||= error.message;
        reject(error);
        this.onclose?.();
      });
      child.once('spawn', () => {
        this.onChild(child.pid ?? null);
        resolve();
      });
      child.once('exit', (code, signal) => {
        this.ended ||= signal ? `it was ended by ${signal}` : `it ended with code ${code}`;
        // those that it started and left
        if (child.pid !== undefined) endGroup(child.pid);
        this.onChild(null);
        this.onclose?.();
      });
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
      child.stdout?.on('data', (data: Buffer) => this.read(data));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-keptOutput);
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.child?.stdin?.writable) throw new Error('it takes no messages');
    this.child.stdin.write(serializeMessage(message));
  }

  /** Resolves when it has ended: it is asked first. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stdin?.end();
    const timer = setTimeout(() => endGroup(child.pid), endWithinMs);
    await gone;
    clearTimeout(timer);
  }

  /** A message is a line. Each byte is looked at once, however long the line is. */
  private read(data: Buffer): void {
    let from = 0;
    while (!this.ended) {
      const end = data.indexOf(10, from);
      const piece = data.subarray(from, end === -1 ? data.length : end);
      this.pieces.push(piece);
      this.bytes += piece.length;
      if (this.bytes > toolLimits.messageBytes) {
        this.end(`it sent a message of more than ${toolLimits.messageBytes / 1024 ** 2} MiB`);
        return;
      }
      if (end === -1) return;
      from = end + 1;
      this.take(Buffer.concat(this.pieces).toString('utf8'));
      this.pieces = [];
      this.bytes = 0;
    }
  }

  private take(line: string): void {
    if (++this.messages > mostMessages) {
      this.end('it sends messages without end');
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      if (++this.badLines > mostBadLines) this.end('it writes what are no messages of MCP');
      return;
    }
    this.onmessage?.(message);
  }

  /** It broke a rule. */
  end(why: string): void {
    this.ended ||= why;
    this.pieces = [];
    endGroup(this.child?.pid);
  }
}
