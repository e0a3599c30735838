import { describe, expect, it } from 'vitest';
import type { ChatSummary } from '@/electron/contract/chats';
import { arrangeChats, folderNames, groupChats, searchChats } from '@/renderer/state/lib/chatList';

const now = new Date(2026, 10, 21, 9, 0);
const chat = (title: string, date: Date, place: Partial<ChatSummary> = {}): ChatSummary => ({
  id: title,
  title,
  createdAt: 0,
  updatedAt: date.getTime(),
  pinned: false,
  folder: null,
  ...place,
});

describe('groupChats', () => {
  it('groups by calendar day, newest first', () => {
    const groups = groupChats(
      [
        chat('old', new Date(2026, 5, 1)),
        chat('late yesterday', new Date(2026, 10, 20, 23, 59)),
        chat('now', now),
        chat('week', new Date(2026, 10, 16)),
        chat('month', new Date(2026, 10, 1)),
        chat('midnight', new Date(2026, 10, 21, 0, 0)),
      ],
      now,
    );
    expect(groups.map((group) => `${group.label}: ${group.chats.map((one) => one.title).join(', ')}`)).toEqual([
      'Today: now, midnight',
      'Yesterday: late yesterday',
      'Last 7 days: week',
      'Last 30 days: month',
      'June 2026: old',
    ]);
  });

  it('puts a clock that runs ahead under today', () => {
    expect(groupChats([chat('future', new Date(2026, 10, 23))], now)[0]?.label).toBe('Today');
  });
});

describe('arrangeChats', () => {
  it('shows each chat once: pinned, in its folder, or under its date', () => {
    const chats = [
      chat('older', new Date(2026, 5, 1), { folder: 'Law 10' }),
      chat('pinned', new Date(2026, 5, 2), { pinned: true, folder: 'Old' }),
      chat('newer', now, { folder: 'Law 10' }),
      chat('two', now, { folder: 'law 2' }),
      chat('free', now),
    ];
    const { pinned, folders, groups } = arrangeChats(chats, now);
    const titles = (some: readonly ChatSummary[]) => some.map((one) => one.title).join(' ');
    expect(titles(pinned)).toBe('pinned');
    expect(folders.map((folder) => `${folder.name}: ${titles(folder.chats)}`)).toEqual([
      'law 2: two',
      'Law 10: newer older',
    ]);
    expect(groups.map((group) => `${group.label}: ${titles(group.chats)}`)).toEqual(['Today: free']);
    expect(folderNames(chats)).toEqual(['law 2', 'Law 10', 'Old']);
  });
});

describe('searchChats', () => {
  const chats = [chat('Café contract', now), chat('Lease contract', now)];
  it('finds every word in any order, whatever the case and the accents', () => {
    expect(searchChats(chats, 'CONTRACT cafe').map((one) => one.title)).toEqual(['Café contract']);
    expect(searchChats(chats, '  ')).toHaveLength(2);
    expect(searchChats(chats, 'rent')).toEqual([]);
  });
});
