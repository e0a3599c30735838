/** Numbers as they are shown and typed, and names of files. */
import { describe, expect, it } from 'vitest';
import {
  draftsText,
  formatBytes,
  formatContext,
  formatDuration,
  formatParameters,
  formatPercent,
  formatRate,
  formatRatio,
  formatTimeLeft,
} from '@/renderer/ui/format';
import { clampTyped, committedNumber, parseNumber } from '@/renderer/ui/NumberField';
import { fileName } from '@/renderer/ui/saveFile';

it('says how many of the drafted tokens were accepted, and that a chat goes on without', () => {
  expect(draftsText({ drafted: 1600, accepted: 1200, slower: false })).toBe('1,200 of 1,600 tokens accepted');
  expect(draftsText({ drafted: 0, accepted: 0, slower: true })).toBe(
    'no tokens; off for this chat, because it was slower',
  );
});

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [-1, '0 B'],
    [Number.NaN, '0 B'],
    [512, '512 B'],
    [1024, '1.00 KiB'],
    [1_048_575, '1.00 MiB'],
    [17_825_792, '17.0 MiB'],
    [160_432_128, '153 MiB'],
    [5_027_783_872, '4.68 GiB'],
    [1.2e15, '1091 TiB'],
  ])('%d is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe('other figures', () => {
  it.each([
    [8192, '8K'],
    [131_072, '128K'],
    [1_048_576, '1M'],
    [5000, '5,000'],
    [512, '512'],
  ])('context %d is %s', (n, text) => expect(formatContext(n)).toBe(text));
  it.each([
    [0, '0 ms'],
    [843, '843 ms'],
    [1000, '1.00 s'],
    [12_340, '12.3 s'],
    [59_990, '1 min 00 s'],
    [3_600_000, '1 h 00 min'],
    [-1, '–'],
  ])('duration %d is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));
  it.each([
    [500, 'a moment'],
    [3000, '3 s'],
    [89_000, '89 s'],
    [150_000, '3 min'],
  ])('time left %d is %s', (ms, text) => expect(formatTimeLeft(ms)).toBe(text));
  it.each([
    [0, '0'],
    [4.2, '4.20'],
    [42.31, '42.3'],
    [396.4, '396'],
    [1850, '1,850'],
    [Number.POSITIVE_INFINITY, '0'],
  ])('rate %d is %s', (rate, text) => expect(formatRate(rate)).toBe(text));

  it('keeps shares within bounds and says nothing about a ratio that is none', () => {
    expect(formatPercent(1.2)).toBe('100%');
    expect(formatPercent(-0.1)).toBe('0%');
    expect(formatRatio(3.764)).toBe('3.76×');
    expect(formatRatio(Number.NaN)).toBe('–');
    expect(formatParameters(28_300_000)).toBe('28.3 M');
  });
});

it.each([
  ['What is 1/2: "half"?', 'What is 1 2 half.md'],
  ['..\\..', 'chat.md'],
  ['x'.repeat(200), `${'x'.repeat(80)}.md`],
])('a file of %j has a name that every system takes', (words, name) => expect(fileName(words, 'md')).toBe(name));

describe('typed numbers', () => {
  const range = { min: 512, max: 8192, integer: true };
  it.each([
    ['4096', 4096],
    ['4,096', 4096],
    ['8 192', 8192],
    ['511', undefined],
    ['9000', undefined],
    ['1.5', undefined],
    ['abc', undefined],
    ['', undefined],
  ])('%s is %s', (text, value) => expect(parseNumber(text, range)).toBe(value));
  it('are empty where that means something, and brought to the edge of their range', () => {
    expect(parseNumber('', { ...range, nullable: true })).toBeNull();
    expect(committedNumber('', { ...range, nullable: true })).toBeNull();
    expect(committedNumber('', range)).toBeUndefined();
    expect(committedNumber('9000', range)).toBe(8192);
    expect(clampTyped('99999', range)).toBe(8192);
    expect(clampTyped('1', range)).toBe(512);
    expect(clampTyped('700.6', range)).toBe(701);
    expect(clampTyped('x', range)).toBeUndefined();
  });
});
