import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { addonCandidates, loadAddon } from '@/electron/engine/native/engine';
import { toCodedError } from '@/electron/engine/native/guards';

const file = 'concertina.node';

describe('addonCandidates', () => {
  it('takes CONCERTINA_ADDON alone', () => {
    expect(addonCandidates({ CONCERTINA_ADDON: '/x/y.node' }, '/app/resources', '/here')).toEqual(['/x/y.node']);
  });

  it('looks in a packaged app first, then in the source tree', () => {
    const here = path.join(path.sep, 'repo', 'electron', 'engine', 'native');
    const built = path.join('build', 'native', 'bin', file);
    expect(addonCandidates({}, path.join(path.sep, 'app'), here)).toEqual([
      path.join(path.sep, 'app', 'native', file),
      path.join(here, built),
      path.join(path.sep, 'repo', 'electron', 'engine', built),
      path.join(path.sep, 'repo', 'electron', built),
      path.join(path.sep, 'repo', built),
    ]);
  });
});

describe('loadAddon', () => {
  it('says engine-unavailable and what to do', () => {
    const attempt = () => loadAddon(path.join(import.meta.dirname, 'load.test.ts'));
    expect(attempt).toThrow(
      expect.objectContaining({ code: 'engine-unavailable', hint: expect.stringContaining('npm run') }),
    );
  });
});

describe('toCodedError', () => {
  it('keeps code, message and hint of the addon', () => {
    const native = Object.assign(new Error('the file is short'), { code: 'model-invalid', hint: 'get it again' });
    const error = toCodedError(native);
    expect(error).toBeInstanceOf(ConcertinaError);
    expect(error).toMatchObject({
      code: 'model-invalid',
      message: 'the file is short',
      hint: 'get it again',
      cause: native,
    });
  });

  it('leaves everything else as it is', () => {
    const plain = Object.assign(new Error('x'), { code: 'ENOENT' });
    expect(toCodedError(plain)).toBe(plain);
    expect(toCodedError('text')).toBe('text');
  });
});
