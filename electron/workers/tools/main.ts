/** Entry of the process that talks to MCP servers, so that what they send, and their ends, touch nothing else. */

import { dispatch, toServerSchema } from '../../contract/rpc';
import {
  type ToolProcessEvents,
  type ToolProcessHandlers,
  type toolProcessEvents,
  toolProcessOperations,
} from '../../contract/tools/process';
import { openParentPort } from '../parentPort';
import { endGroup } from '../processGroup';
import { Connection } from './connection';

const port = openParentPort();
const connections = new Map<string, Connection>();
const children = new Map<string, number>();
const calls = new Map<string, AbortController>();

function tell<N extends keyof ToolProcessEvents>(name: N, payload: (typeof toolProcessEvents)[N]['_output']): void {
  port.send({ type: 'event', name, payload });
}

const handlers: ToolProcessHandlers = {
  async connect({ serverId, place, timeoutMs }) {
    const known = connections.get(serverId);
    if (known) return known.tools(timeoutMs);
    const connection = new Connection(place, {
      child(pid) {
        if (pid === null) children.delete(serverId);
        else children.set(serverId, pid);
        tell('onChild', { serverId, pid });
      },
      gone(why) {
        if (connections.get(serverId) !== connection) return;
        connections.delete(serverId);
        tell('onGone', { serverId, why });
      },
    });
    connections.set(serverId, connection);
    try {
      await connection.open(timeoutMs);
      return await connection.tools(timeoutMs);
    } catch (error) {
      connections.delete(serverId);
      await connection.close();
      throw error;
    }
  },
  async call({ serverId, callId, tool, arguments: given, timeoutMs }) {
    const controller = new AbortController();
    calls.set(callId, controller);
    try {
      const connection = connections.get(serverId);
      if (!connection) throw Connection.notConnected();
      return await connection.call(tool, given, timeoutMs, controller.signal);
    } finally {
      calls.delete(callId);
    }
  },
  async cancel({ callId }) {
    calls.get(callId)?.abort();
  },
  async disconnect({ serverId }) {
    const connection = connections.get(serverId);
    connections.delete(serverId);
    await connection?.close();
  },
};

port.onMessage((raw) => {
  const message = toServerSchema.safeParse(raw).data;
  if (!message) return;
  void dispatch(toolProcessOperations, handlers, message.name, message.input).then((envelope) =>
    port.send({ type: 'answer', id: message.id, envelope }),
  );
});

// whatever ends this process, no server is left behind
process.on('exit', () => {
  for (const pid of children.values()) endGroup(pid);
});
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(0));
