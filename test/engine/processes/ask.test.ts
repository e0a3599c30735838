/** `concertina run` and `chat` as a person runs them: the real engine, a document, and what is left of it on the disk. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { makePdf } from '../../fixtures/documents/pdf';
import { root, temporaryFolder, tinyModel } from '../support';

const shape = [
  '--model',
  tinyModel,
  '--context',
  '1024',
  '--type-k',
  'q8_0',
  '--type-v',
  'turbo3',
  '--temperature',
  '0',
];

function begin(data: string, [command = '', ...args]: string[], input: string | null = '') {
  const program = path.join(root, 'build', 'app', 'serve.cjs');
  const child = spawn(process.execPath, [program, command, ...shape, '--data', data, ...args], { cwd: data });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (input !== null) child.stdin.end(input);
  const printed = [text(child.stdout), text(child.stderr)];
  const ended = once(child, 'close').then(async ([code]: (number | null)[]) => {
    const [stdout = '', stderr = ''] = await Promise.all(printed);
    return { code, stdout, stderr };
  });
  return { child, ended };
}

/** A folder with a document of some pages. */
function setUp(pages = 1): string {
  const data = temporaryFolder();
  const lines = ['The harbor master agreed that the new pier will be 120 meters long.', 'Anna Berg leads the project.'];
  fs.writeFileSync(path.join(data, 'pier.pdf'), makePdf(Array(pages).fill({ lines })));
  return data;
}

const chats = (data: string) => fs.readdirSync(path.join(data, 'chats')).filter((name) => name.endsWith('.jsonl'));

it('run answers about a document with the asked context, and leaves no chat and no settings behind', async () => {
  const data = setUp();
  const question = ['run', 'How long will the pier be?', '--doc', 'pier.pdf', '--max-tokens', '16'];
  const json = await begin(data, [...question, '--json']).ended;
  const answer = JSON.parse(json.stdout);
  expect(answer).toMatchObject({ error: null, documents: [{ name: 'pier.pdf', pages: 1 }] });
  expect(answer.context).toMatchObject({ nCtx: 1024, typeK: { effective: 'q8_0' }, typeV: { effective: 'turbo3' } });
  expect(answer.stats.answerTokens).toBeLessThanOrEqual(16);
  expect(answer.text).toContain('120');
  const plain = await begin(data, [...question.with(1, '-')], question[1]).ended;
  expect(plain).toMatchObject({ code: 0, stdout: `${answer.text}\n` });
  expect(plain.stderr).toContain('K q8_0, V turbo3');
  expect(chats(data)).toEqual([]);
  expect(fs.readdirSync(path.join(data, 'trash'))).toEqual([]);
  expect(fs.existsSync(path.join(data, 'settings.json'))).toBe(false);
});

it('a document that does not fit is refused with the context that would hold it, and exit code 3', async () => {
  const data = setUp(40);
  const refused = await begin(data, ['run', 'How long?', '--doc', 'pier.pdf']).ended;
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toMatch(/Use --context \d+\./);
});

it('a document with a password is refused, since nobody can type it', async () => {
  const data = setUp();
  fs.writeFileSync(path.join(data, 'pier.pdf'), makePdf([{ lines: ['Secret.'] }], { password: 'sesame' }));
  const refused = await begin(data, ['run', 'How long?', '--doc', 'pier.pdf']).ended;
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('pier.pdf is protected by a password.');
});

it('Ctrl-C stops the answer; what was written of it stays, and nothing runs on', async () => {
  const data = setUp();
  // nearly uniform: such an answer hardly ever ends by itself
  const sampling = { topK: 0, topP: 1, minP: 0 };
  fs.writeFileSync(path.join(data, 'settings.json'), JSON.stringify({ version: 1, sampling }));
  const stop = async () => {
    const { child, ended } = begin(data, ['run', 'Tell me a story.', '--temperature', '5', '--context', '8192']);
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    return await ended;
  };
  let stopped = await stop();
  // by chance it ended before it was stopped: then once more
  for (let attempt = 0; stopped.code === 0 && attempt < 3; attempt++) stopped = await stop();
  expect(stopped.code).toBe(130);
  expect(stopped.stdout).not.toBe('');
  expect(chats(data)).toEqual([]);
});

it('chat answers line after line in one chat, which is kept', async () => {
  const data = setUp();
  const lines = ['How long will the pier be?', '/doc missing.pdf', 'Who leads the project?'];
  const { code, stderr } = await begin(data, ['chat', '--doc', 'pier.pdf', '--max-tokens', '16'], lines.join('\n'))
    .ended;
  expect(code).toBe(0);
  expect(stderr).toContain('missing.pdf');
  const [file = '', ...others] = chats(data);
  expect(others).toEqual([]);
  const log = fs.readFileSync(path.join(data, 'chats', file), 'utf8');
  for (const asked of ['How long will the pier be?', 'Who leads the project?', 'pier.pdf'])
    expect(log).toContain(asked);
  // the second question goes on behind the first, whose prompt is in the cache
  expect(stderr).toMatch(/[1-9]\d* of them in the cache/);
});
