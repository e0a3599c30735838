/**
 * Machines with a part of the model are killed in the midst of answers: no chat loses what was shown, the app says which machine it was, the
 * next answer works without it, and with it again once it is there. ROUNDS kills (2); `npm run test:workers` makes it 20.
 */
import { expect, it, onTestFinished, vi } from 'vitest';
import { EngineGates } from '../../fixtures/engineGates';
import { waiting } from '../../fixtures/services';
import { bundleProcesses, startProcesses } from '../processes';
import { killed, startWorker } from './workers';

bundleProcesses({ heldEngine: 'test/fixtures/testEngineProcess.ts' });

const rounds = Number(process.env.ROUNDS ?? 2);
const addressOf = ({ port }: { port: number }) => `127.0.0.1:${port}`;

it(`keeps ${rounds} answers whose worker was killed, and goes on`, async () => {
  const gates = await EngineGates.open();
  onTestFinished(() => gates.close());
  vi.stubEnv('CONCERTINA_TEST_GATES', gates.env.CONCERTINA_TEST_GATES);
  const app = await startProcesses({ context: { nCtx: 1024, gpuLayers: 99 } }, { program: 'heldEngine' });
  const { call, services } = app;
  const workers = [await startWorker(), await startWorker()];
  const addresses = workers.map(addressOf);
  const states = async () => (await call('workers.list', undefined)).map(({ state }) => state);
  const used = () => services.engine.status().memory?.workers.length;
  for (const address of addresses) await call('workers.add', { address });
  const seen: Record<string, string> = {};

  for (let round = 0; round < rounds; round++) {
    const victim = round % 2;
    await vi.waitFor(async () => expect(await states()).toEqual(['ready', 'ready']), waiting);
    await call('engine.reload', undefined);
    await app.state('ready');
    expect(used()).toBe(2);

    gates.pieces.hold(4);
    const { id, turn } = await app.begin('Tell me of the sea, at length.');
    await gates.pieces.reached();
    await killed(workers[victim]);
    gates.pieces.open();
    const message = await app.final(turn);
    const shown = app.payloads('onStream').filter(({ requestId }) => requestId === turn.requestId);
    expect(message.stopReason).toBe('error');
    expect(message.text).toContain(shown.at(-1)?.text.trim());
    expect(message.text).not.toBe('');
    expect(message.error).toMatchObject({ code: 'worker-lost' });
    expect(message.error?.message).toContain(addresses[victim]);
    seen[id] = message.text;

    await app.state('ready');
    expect(used()).toBe(1);
    expect(services.engine.status().context?.notes.join(' ')).toContain(addresses[victim]);
    const next = await app.send('And of the shore?');
    expect(await app.final(next.turn)).toMatchObject({ error: null });
    workers[victim] = await startWorker(Number(addresses[victim]?.split(':')[1]));
  }
  for (const [chatId, text] of Object.entries(seen)) {
    const { messages } = await call('chats.open', { chatId });
    expect(messages.at(-1)?.text).toBe(text);
  }
});
