/** Requests that nobody means well: whatever they are, each is answered or its connection ended, and the next one is served. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createGateway } from '@/electron/services/api/gateway';
import { silentLogger } from '@/electron/services/lib/logger';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { ask } from '@/test/fixtures/httpClient';
import { setUpServices } from '@/test/fixtures/services';
import { fuzz } from '@/test/fuzz/server.mjs';

const key = 'the-key-of-the-test';

test('1000 requests of chance end, and the server serves on', { timeout: 120_000 }, async () => {
  const { services } = await setUpServices({ engine: createFakeEngine({ api: { marks: ['<|im_end|>'] } }) });
  const gateway = createGateway({ service: services.api, key, cors: [], hosts: ['127.0.0.1'], log: silentLogger });
  const server = createServer((request, response) => {
    if (!gateway.handle(request, response, port)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const isWell = async () => expect((await ask(port, '/health')).body).toBe('{"status":"ok"}');
  const { statuses, problems } = await fuzz({ port, key, seed: 20, requests: 1000, isWell });
  console.log(`1000 requests of chance: ${JSON.stringify(statuses)}`);
  expect(problems).toEqual([]);
  for (const status of ['200', '400', '401', '403', '404', '413']) expect(statuses[status]).toBeGreaterThan(0);
  expect(services.api.requests()).toEqual([]);
});
