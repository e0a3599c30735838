/** Requests to `concertina serve` with the tiny model, as bytes: its API, its page and its socket. */
import { mostly, pick } from './random.mjs';
import { hostileRequest } from './requests.mjs';
import { explained, send, startFuzzed } from './server.mjs';
import type { Attack, Outcome, Random } from './target';

interface Case {
  path: string;
  /** base64; PORT and KEY stand for those of the run */
  bytes: string;
  client: 'waits' | 'ends' | 'cuts' | 'leaves';
}

/** stand-ins of the length that is usual, so that what is cut stays what it is */
const port = 10_001;
const key = 'KEY-OF-THE-RUN';
const pageKey = 'KEY-OF-THE-PAGE';
const ms = 60_000;

export async function http(): Promise<Attack<Case>> {
  const server = await startFuzzed();
  const own = (bytes: string) =>
    Buffer.from(
      Buffer.from(bytes, 'base64')
        .toString('latin1')
        .replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${server.port}`)
        .replaceAll(key, server.key)
        .replaceAll(pageKey, server.pageKey),
      'latin1',
    );

  async function run({ path, bytes, client }: Case): Promise<Outcome> {
    const answer = await send(server.port, { path, bytes: own(bytes), client }, ms);
    if (answer === null) return { problem: `${path}: no end in ${ms / 1000} s` };
    const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
    if (status === undefined) return { refused: 'ended' };
    if (status === '500' || status === '503') {
      const body = answer.split('\r\n\r\n')[1] ?? '';
      if (!explained.some((words) => body.includes(words)))
        return { problem: `${path}: ${status} ${body.slice(0, 300)}` };
    }
    return Number(status) < 400 ? { served: true } : { refused: status };
  }

  return {
    atOnce: 20,
    make(random, index) {
      if (random(4) === 0) return pageRequest(random);
      // llama-server lets what is done to a busy slot wait until another answer ends
      for (let more = 0; ; more++) {
        const { path, bytes, client } = hostileRequest(random(1_000_000) + more, index, port, key);
        if (!path.startsWith('/slots/')) return { path, bytes: bytes.toString('base64'), client };
      }
    },
    run,
    isWell: server.isWell,
    close: server.stop,
  };
}

const paths = [
  ...[
    '/',
    '/index.html',
    '/ws',
    '/../package.json',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/.',
    '/%00',
  ],
  ...[
    '//x:99999/..%2findex.html',
    '//[/',
    '//%5B/',
    '//%25/',
    '//:80/',
    '//@/',
    '//1.2.3.4.5.6.999999999/',
    '/\\..\\x',
  ],
  ...[
    '*',
    'http://[::1',
    'http://a:b@127.0.0.1/index.html',
    `/${'a/'.repeat(3000)}`,
    '/index.html?#',
    '/%',
    '/ws?%zz',
    '',
  ],
];
const methods = ['HEAD', 'POST', 'OPTIONS', 'PUT', 'CONNECT', 'BREW', 'G E T'];
const upgrade = [
  ...['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
  ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', `Sec-WebSocket-Protocol: concertina, key.${pageKey}`],
];

/** Of the page and its socket, with frames behind a handshake. */
function pageRequest(random: Random): Case {
  const path: string = pick(random, paths);
  const own = `127.0.0.1:${port}`;
  const lines = [
    `${mostly(random, ['GET'], methods)} ${path} HTTP/1.1`,
    `Host: ${mostly(random, [own], ['evil.example', '', `${own}, ${own}`])}`,
    ...(random(2) ? [`Origin: ${mostly(random, [`http://${own}`], ['null', 'https://evil.example'])}`] : []),
    ...(path.startsWith('/ws') || random(3) === 0 ? upgrade.filter(() => random(12) > 0) : []),
    ...(random(8) === 0 ? [`Range: bytes=${pick(random, ['0-', '-1', '9-1', `0-${'9'.repeat(40)}`])}`] : []),
    ...(random(8) === 0 ? [`X-${'h'.repeat(random(20_000))}: ${'v'.repeat(random(200))}`] : []),
  ];
  const frames = Buffer.from(Array.from({ length: random(3) ? 0 : random(400) }, () => random(256)));
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), frames]);
  return { path, bytes: bytes.toString('base64'), client: pick(random, ['ends', 'ends', 'cuts', 'leaves'] as const) };
}
