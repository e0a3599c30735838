import { expect, test } from 'vitest';
import type { Summary, SummaryPart } from '@/electron/contract/chats';
import { doneText, leftText, shareDone, stepText } from '@/renderer/features/chat/AssistantMessage';

const attachment = { documentId: 'd', name: 'a.pdf', part: { kind: 'whole' as const } };
const part = (label: string, ms: number | null, text = ''): SummaryPart => ({
  ...{ label, text, ms, tokens: 1000 },
  source: { kind: 'document', attachment },
});
const summary = (...parts: SummaryPart[]): Summary => ({ kind: 'summary', parts });

test('how far it is, and how long it takes by what was measured', () => {
  expect(stepText(summary())).toBe('Cutting the document into parts');
  const begun = summary(part('Pages 1-24', null), part('Pages 25-48', null));
  expect(stepText(begun)).toBe('Part 1 of 2: Pages 1-24');
  expect(leftText(begun)).toBeNull();
  const midway = summary(part('Pages 1-24', 20_000, 'One.'), part('Pages 25-48', null));
  expect(stepText(midway)).toBe('Part 2 of 2: Pages 25-48');
  expect(shareDone(midway)).toBe(0.5);
  // one part to read and one joining, 20 s each
  expect(leftText(midway)).toBe('about 40 s left');
  expect(doneText(midway)).toBe('1 of 2 parts are read');
  const group: SummaryPart = { ...part('Parts 1-2', null), source: { kind: 'parts', first: 0, last: 1 } };
  const joining = summary(part('Page 1', 1), part('Page 2', 1), group);
  expect(stepText(joining)).toBe('Joining parts 1-2, group 1 of 1');
  expect(doneText(joining)).toBe('Read in 2 parts');
  expect(stepText(summary(part('Page 1', 1), part('Page 2', 1)))).toBe('Joining the summary of the whole');
});
