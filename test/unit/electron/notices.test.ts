/** The build stops where a license text is missing. What the whole file holds: test/engine/notices.test.ts. */
import { describe, expect, it } from 'vitest';
import { thirdPartyNotices } from '../../../electron/notices.mjs';

describe('a package without a license text', () => {
  it.each([undefined, ' \n'])('stops the build with what to do about it (%o)', (text) => {
    expect(() => thirdPartyNotices([{ name: '@some/package', version: '1.2.3', identifier: 'MIT', text }])).toThrow(
      "@some/package 1.2.3 is in the app's bundles and has no license text, so the app must not be distributed. " +
        'Put the text of its repository into electron/packaging/licenses/@some__package.txt.',
    );
  });
});
