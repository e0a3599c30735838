/** The places of what an answer quotes, looked up in the stored texts of its documents. */
import { expect, it, vi } from 'vitest';
import { findQuote, squash } from '@/renderer/state/slices/citations';
import { openWindow } from '@/test/fixtures/renderer/window';
import { attach, waiting } from '@/test/fixtures/services';

it('finds a quotation whatever its line breaks, hyphenation, quotation marks, case and last full stop', () => {
  const text = 'The old bridge was closed for the win-\nter of 1911, and “nobody”\n  crossed it.';
  const found = (quote: string) => {
    const place = findQuote(text, squash(text), quote);
    return place && text.slice(place.start, place.end);
  };
  expect(found('closed for the winter of 1911')).toBe('closed for the win-\nter of 1911');
  expect(found("and 'nobody' crossed it.")).toBe('and “nobody”\n  crossed it');
  expect(found('THE OLD BRIDGE WAS')).toBe('The old bridge was');
  expect(found('closed for the summer of 1911')).toBeNull();
  expect(found('...')).toBeNull();
});

it('looks through the documents of an answer once, across the borders of its slices', async () => {
  const quote = 'a sentence that lies across the border of two slices';
  const { actions, bridge, call, get } = await openWindow({ start: false });
  const text = `${'x'.repeat(199_980)} ${quote.toUpperCase()} ${'y'.repeat(1000)}`;
  const { documentId } = await attach(call, 'a.txt', text);
  const { citations } = actions;
  // asked for already, and not there yet
  void citations.learn([documentId]);
  await citations.findQuotes('m1', [documentId], [quote, 'a sentence that is in no document']);
  await citations.findQuotes('m1', [documentId], [quote]);
  expect(get().citations.quotes).toEqual({
    m1: { [quote]: { documentId, start: 199_981, end: 199_981 + quote.length } },
  });
  expect(bridge.inputs('documents.sections')).toHaveLength(1);
  expect(bridge.inputs('documents.text')).toHaveLength(2);

  const later = 'y'.repeat(30);
  citations.seek('m1', [{ documentId }], quote);
  citations.seek('m1', [{ documentId }], later);
  await vi.waitFor(() => expect(get().citations.quotes.m1?.[later]).toBeDefined(), waiting);
  expect(get().citations.quotes.m1?.[quote]).toBeDefined();
  expect(bridge.inputs('documents.text')).toHaveLength(3);
});
