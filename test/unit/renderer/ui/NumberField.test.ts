import { describe, expect, it } from 'vitest';
import { clampTyped, committedNumber, parseNumber } from '@/renderer/ui/NumberField';

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
  it('takes an empty field where that means something', () =>
    expect(parseNumber('', { ...range, nullable: true })).toBeNull());
  it('saves an emptied field as empty, and nothing where it has to hold a number', () => {
    expect(committedNumber('', { ...range, nullable: true })).toBeNull();
    expect(committedNumber('', range)).toBeUndefined();
    expect(committedNumber('9000', range)).toBe(8192);
  });
  it('brings what is out of range to its edge', () => {
    expect(clampTyped('99999', range)).toBe(8192);
    expect(clampTyped('1', range)).toBe(512);
    expect(clampTyped('700.6', range)).toBe(701);
    expect(clampTyped('x', range)).toBeUndefined();
  });
});
