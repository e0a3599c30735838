/** The API that a person switches on in the window: another program asks it over HTTP, and the window shows that. */
import { expect } from '@playwright/test';
import { ask as http, open } from '../../fixtures/httpClient';
import { freePort } from '../../serve.mjs';
import { test, tinyModel } from '../app';
import { ask, greedy, ready } from '../chat';

test('a person switches the API on, a program asks it, and the chat goes on beside it', async ({ launch, gates }) => {
  const port = await freePort();
  const { page } = await launch({
    ...{ model: tinyModel, held: { endless: true }, env: gates.env },
    settings: { api: { port }, context: { nCtx: 8192 }, sampling: { ...greedy, maxTokens: 8 } },
  });
  await ready(page);
  await ask(page, 'Hello');
  await expect(page.getByTestId('meter-api')).toBeHidden();
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-advanced').click();
  await page.getByTestId('api-open').click();
  const view = page.getByTestId('api-view');
  await view.getByText('On', { exact: true }).click();
  await expect(page.getByTestId('api-address')).toHaveText(`http://127.0.0.1:${port}/v1`);
  await expect(page.getByTestId('meter-api')).toHaveAttribute('data-requests', '0');
  await page.getByTestId('api-key-show').click();
  const key = page.getByTestId('api-key');
  await expect(key).toHaveText(/^[\w-]{32}$/);
  const headers = { Authorization: `Bearer ${await key.textContent()}`, 'User-Agent': 'e2e/1.0' };

  const question = (more: object) =>
    JSON.stringify({ messages: [{ role: 'user', content: 'Count.' }], max_tokens: 4, stream: true, ...more });
  const path = '/v1/chat/completions';
  expect((await http(port, path, { body: question({}) })).status).toBe(401);
  // 503 while the context is made anew, with slots for requests
  const answered = async () => {
    const { status, body } = await http(port, path, { body: question({}), headers });
    return [status, body.trimEnd().endsWith('data: [DONE]')];
  };
  await expect.poll(answered).toEqual([200, true]);

  // one that goes on, to a client that reads nothing of it yet, is on the list until the person ends it
  const endlessly = { max_tokens: -1, ignore_eos: true, logprobs: true, top_logprobs: 20 };
  const long = open(port, path, { body: question(endlessly), headers });
  expect((await long.answer).statusCode).toBe(200);
  await expect(page.getByTestId('api-request')).toContainText('e2e/1.0');
  await expect(page.getByTestId('meter-api')).toHaveAttribute('data-requests', '1');
  const rest = long.answer.then(async (response) => {
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return text;
  });
  await page.getByTestId('api-request-end').click();
  expect(await rest).toContain('The request was ended in the window');
  await expect(page.getByTestId('meter-api')).toHaveAttribute('data-requests', '0');

  await page.keyboard.press('Escape');
  await page.getByTestId('settings-close').click();
  expect(await ask(page, 'And again')).not.toBe('');
});
