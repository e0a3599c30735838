/** Chat templates that come with a model and run without end, take the memory or the stack; and those of known models. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chatBody } from '@/electron/engine/native/chatRequest';
import { type Gguf, readGguf, writeChanged } from '../gguf';
import { answer, contextOptions, engine, greedy, raw, root, temporaryFolder, tinyModel } from '../support';

const original: Gguf = readGguf(tinyModel);

/** The tiny model with this template, loaded; the weights are real, so that it answers. */
async function loadWith(template: string) {
  const file = path.join(temporaryFolder(), 'model.gguf');
  writeChanged(original, file, { 'tokenizer.chat_template': template }, true);
  const model = await engine().loadModel(file, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  return model;
}

const ended = (template: string) => {
  try {
    raw.applyTemplate(template, chatBody([{ role: 'user', content: 'Hello' }], {}));
    return 'rendered';
  } catch (error) {
    return (error as Error).message;
  }
};

const doubled = (start: string, step: string) =>
  `{% set ns = namespace(a=${start}) %}{% for i in range(100) %}{% set ns.a = ${step} %}{% endfor %}`;
const deep = (open: string, close: string, count = 20_000) => `${open.repeat(count)}1${close.repeat(count)}`;

describe('a template that takes too much is ended', () => {
  it.each([
    ['a loop', '{% for i in range(1000000000) %}x{% endfor %}', /more than 1000000 steps/],
    ['loops in loops', '{% for i in range(3000) %}{% for j in range(3000) %}{% endfor %}{% endfor %}', /1000000 steps/],
    ['an indentation', '{{ "abc" | indent(2147483647) }}', /more than 64 MB of text/],
    ['indented JSON', '{{ [1, [2]] | tojson(indent=2000000000) }}', /64 MB/],
    ['a text many times', '{{ "a" * 1000000000 }}', /64 MB/],
    ['no text many times', '{{ "" * 1000000000 }}', /64 MB/],
    ['a text that doubles', doubled('"x"', 'ns.a ~ ns.a'), /64 MB/],
    ['a list that doubles', doubled('[1]', 'ns.a + ns.a'), /1000000 steps/],
    ['lists in lists', `${doubled('[1]', '[ns.a, ns.a]')}{{ ns.a }}`, /1000000 steps/],
    ['a text between letters', doubled('"ab"', 'ns.a | replace("", ns.a)'), /64 MB/],
    ['a text for a letter', doubled('"aa"', 'ns.a | replace("a", ns.a)'), /64 MB/],
    ['a joined list', '{% set a = "x" * 1000000 %}{{ [a, a, a, a, a, a, a, a] | join(a) }}'.repeat(8), /64 MB/],
    ['a macro that calls itself', '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}', /deeper than 500 levels/],
    ['an object that holds itself', '{% set ns = namespace() %}{% set ns.a = ns %}{{ ns | tojson }}', /500 levels/],
  ])('%s', (_, template, reason) => {
    expect(ended(template)).toMatch(reason);
  });
});

describe('a template that is too long or too deep is not read', () => {
  it.each([
    ['brackets', `{{ ${deep('(', ')')} }}`, /nested deeper than 100 levels/],
    ['lists', `{{ ${deep('[', ']')} }}`, /100 levels/],
    ['objects', `{{ ${deep('{1:', '}', 10_000)} }}`, /100 levels/],
    ['negations', `{{ ${deep('not ', '', 10_000)} }}`, /100 levels/],
    ['signs', `{{ ${deep('- ', '')} }}`, /100 levels/],
    ['blocks', deep('{% if 1 %}', '{% endif %}', 2500), /100 levels/],
    ['elifs', `{% if 0 %}${'{% elif 0 %}'.repeat(3000)}{% endif %}`, /100 levels/],
    ['sets', deep('{% set x %}', '{% endset %}', 2500), /100 levels/],
    ['a sum', `{{ ${'1+'.repeat(20_000)}1 }}`, /more than 1000 words/],
    ['members', `{{ a${'.b'.repeat(20_000)} }}`, /1000 words/],
    ['filters', `{{ a${'|e'.repeat(20_000)} }}`, /1000 words/],
    ['choices', `{{ ${'1 if 0 else '.repeat(5000)}1 }}`, /1000 words/],
    ['letters', 'x'.repeat(65_537), /64 kB long; 64 kB are the most/],
  ])('%s', (_, template, reason) => {
    expect(ended(template)).toMatch(reason);
  });
});

describe('a model with such a template', () => {
  it.each([
    ['loops', '{% for i in range(1000000000) %}x{% endfor %}', '1000000 steps'],
    ['takes memory', '{{ "abc" | indent(2147483647) }}', '64 MB of text'],
    ['calls itself', '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}', '500 levels'],
    ['has 20,000 brackets', `{{ ${deep('(', ')')} }}`, 'deeper than 100 levels'],
    ['is no Jinja', '{% nothing %}', 'it is no Jinja template'],
  ])('that %s is loaded with ChatML, says why, and answers', async (_, template, reason) => {
    const model = await loadWith(template);
    const context = await model.createContext(contextOptions({ nCtx: 512 }));
    expect(context.effective.chatTemplate).toMatch(/^The model's chat template cannot be used: .*ChatML is used/);
    expect(context.effective.chatTemplate).toContain(reason);
    const { result } = await answer(context, [{ role: 'user', content: 'Hello.' }], greedy({ maxTokens: 4 }));
    expect(result.text).not.toBe('');
  });

  it('that takes too much only for some messages is ended there, with a reason', async () => {
    const template =
      '{% for m in messages %}{{ m.content }}{% if m.content == "loop" %}{% for i in range(1000000000) %}x{% endfor %}{% endif %}{% endfor %}';
    const model = await loadWith(template);
    const context = await model.createContext(contextOptions({ nCtx: 512 }));
    expect(context.effective.chatTemplate).toBe('');
    await answer(context, [{ role: 'user', content: 'Hello.' }], greedy({ maxTokens: 1 }));
    const looping = [{ role: 'user' as const, content: 'loop' }];
    await expect(answer(context, looping, greedy())).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringMatching(/^The model's chat template was ended: it takes more than \d+ steps$/),
    });
    await expect(model.renderChat(looping)).rejects.toMatchObject({ code: 'bad-request' });
  });

  it('can be canceled while it writes the prompt', async () => {
    const model = await loadWith('{% for m in messages %}{{ m.content }}{% endfor %}');
    const context = await model.createContext(contextOptions({ nCtx: 512 }));
    const cancelled = greedy({ signal: AbortSignal.abort() });
    const { result } = await answer(context, [{ role: 'user', content: 'Hello.' }], cancelled);
    // a prompt that was written has tokens
    expect(result).toMatchObject({ stopReason: 'cancelled', promptTokens: 0, text: '' });
  });
});

it("the templates of known models, which are upstream's, are within the limits, also for long chats", () => {
  const folder = path.join(root, 'build', 'upstream', 'llama.cpp', 'models', 'templates');
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.jinja'));
  expect(names.length).toBeGreaterThan(50);
  const turns = Array.from({ length: 40 }, (_, i) => ({
    role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `${i} ${'The old clock in the hall strikes once an hour. '.repeat(20)}`,
  }));
  const messages = [...turns, { role: 'user' as const, content: 'And now?' }];
  for (const name of names) {
    const template = fs.readFileSync(path.join(folder, name), 'utf8');
    expect(JSON.parse(raw.applyTemplate(template, chatBody(messages, {}))).prompt, name).toContain('And now?');
  }
});
