import { expect, it } from 'vitest';
import { refusalText } from '@/renderer/features/models/AddModels';

it('a refusal names the file once, however the message does', () => {
  const of = (message: string) =>
    refusalText({ name: 'a.gguf', error: { code: 'model-invalid', message, hint: 'Wait.' } });
  for (const message of ['a.gguf is truncated', '/models/a.gguf is truncated', 'It is truncated.']) {
    expect(of(message).match(/a\.gguf/g)).toHaveLength(1);
    expect(of(message)).toMatch(/is truncated\. Wait\.$/);
  }
});
