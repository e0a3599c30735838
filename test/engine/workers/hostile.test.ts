/** What a client of a worker may not do, as far as this project holds it: upstream's protocol trusts its clients (docs/machines.md). */
import { once } from 'node:events';
import fs from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { deviceServerArguments, greetingOf } from '@/electron/contract/lib/domains/workers';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { WorkerFront } from '@/electron/services/remote/workerFront';
import { bundleOf, bundleProcesses } from '../processes';
import { root } from '../support';

bundleProcesses();

const hello = 14;
const graphCompute = 10;

/** Its number in this pin's `enum ggml_op`. */
function operation(name: string): number {
  const header = fs.readFileSync(path.join(root, 'build/upstream/llama.cpp/ggml/include/ggml.h'), 'utf8');
  const body = /enum ggml_op \{([^}]*)\}/.exec(header)?.[1] ?? '';
  return [...body.matchAll(/\bGGML_OP_\w+/g)].findIndex(([word]) => word === name);
}

/** `rpc_tensor` of ggml-rpc.cpp: one value of type f32, without data */
function tensor(op: number, parameters: Buffer): Buffer {
  const bytes = Buffer.alloc(296);
  bytes.writeBigUInt64LE(1n, 0);
  for (let i = 0; i < 4; i++) {
    bytes.writeUInt32LE(1, 20 + 4 * i);
    bytes.writeUInt32LE(4, 36 + 4 * i);
  }
  bytes.writeUInt32LE(op, 52);
  parameters.copy(bytes, 56);
  return bytes;
}

function command(number: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head[0] = number;
  head.writeBigUInt64LE(BigInt(body.length), 1);
  return Buffer.concat([head, body]);
}

async function peer(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

it('a graph with the address of a function is refused and not called', async () => {
  const said: string[] = [];
  const front = await WorkerFront.start({
    ...{ host: '127.0.0.1', port: 0, threads: 1, version: '0.0.0', log: (text: string) => said.push(text) },
    open: () => forkProcess(bundleOf('engine'), deviceServerArguments()),
  });
  onTestFinished(() => front.close());
  const { build } = await front.describe();
  const talk = await peer(front.port);
  talk.write(`${greetingOf(build)}\n`);
  await once(talk, 'data');
  const stream = await peer(front.port);
  stream.write(command(hello, Buffer.alloc(24)));
  await once(stream, 'data');

  // a function at address 1, for one task
  const parameters = Buffer.alloc(64);
  parameters.writeBigUInt64LE(1n, 0);
  parameters.writeInt32LE(1, 8);
  const graph = Buffer.alloc(20);
  graph.writeUInt32LE(1, 4);
  graph.writeBigUInt64LE(1n, 8);
  graph.writeUInt32LE(1, 16);
  stream.write(command(graphCompute, Buffer.concat([graph, tensor(operation('GGML_OP_CUSTOM'), parameters)])));
  await once(stream, 'close');
  // a call of it would be SIGSEGV
  await expect.poll(() => said.join('\n')).toContain('SIGABRT');
  // and serves on, with another process
  const again = await peer(front.port);
  again.write(`${greetingOf(build)}\n`);
  expect(String((await once(again, 'data'))[0])).toContain(build);
});
