/** What a side of the cache can be: a type, or a budget for both sides; what a file of settings may say of recent tokens. */
import { describe, expect, it } from 'vitest';
import {
  cacheChoiceSchema,
  chosenSides,
  contextSettingsSchema,
  parseBudget,
  usualRecentTokens,
} from '@/electron/contract/settings';

describe('a budget', () => {
  it.each([
    ['auto:3.5', { bits: 3.5 }],
    ['auto:16', { bits: 16 }],
    ['auto:2GiB', { bytes: 2 * 1024 ** 3 }],
    ['auto:1.5GiB', { bytes: 1.5 * 1024 ** 3 }],
    ['auto:512MiB', { bytes: 512 * 1024 ** 2 }],
  ])('%s', (text, expected) => {
    expect(parseBudget(text)).toEqual(expected);
    expect(cacheChoiceSchema.parse(text)).toBe(text);
  });

  it.each([
    'auto:',
    'auto:1.9',
    'auto:16.1',
    'auto:0GiB',
    'auto:-3',
    'auto:3.5 ',
    'auto:2GB',
    'auto:3=turbo3',
    'auto',
    'turbo9',
  ])('is not %s', (text) => {
    expect(parseBudget(text)).toBeNull();
    expect(cacheChoiceSchema.safeParse(text).success).toBe(false);
  });

  it('is for both sides, and what takes its place is, too', () => {
    const plain = { typeK: 'q8_0', typeV: 'turbo4' } as const;
    expect(chosenSides(plain, 'typeV', 'turbo3')).toEqual({ typeV: 'turbo3' });
    expect(chosenSides(plain, 'typeV', 'auto:4')).toEqual({ typeK: 'auto:4', typeV: 'auto:4' });
    const budget = { typeK: 'auto:4', typeV: 'auto:4' } as const;
    expect(chosenSides(budget, 'typeK', 'q8_0')).toEqual({ typeK: 'q8_0', typeV: 'q8_0' });
  });
});

describe('recent tokens', () => {
  const parse = (recentTokens?: number) => contextSettingsSchema.safeParse({ recentTokens }).data?.recentTokens;

  it('are as usual in a file that does not name them', () => expect(parse()).toBe(usualRecentTokens));

  it.each([0, 1, 77, 4096])('can be %d', (tokens) => expect(parse(tokens)).toBe(tokens));

  it.each([-1, 0.5, 4097])('cannot be %d', (tokens) => expect(parse(tokens)).toBeUndefined());
});
