import { expect, test, vi } from 'vitest';
import { contextMenuOf, dictionariesFor } from '@/electron/desktop/contextMenu';

vi.mock('electron', () => import('@/test/fixtures/electron'));

const nothing = {
  ...{ isEditable: false, selectionText: '', linkURL: '', misspelledWord: '', dictionarySuggestions: [] },
  editFlags: { canCut: false, canCopy: false, canPaste: true, canSelectAll: true },
} as unknown as Parameters<typeof contextMenuOf>[0];

function menu(facts: Partial<typeof nothing>) {
  const actions = { replace: vi.fn(), learn: vi.fn(), open: vi.fn(), copy: vi.fn(), quote: vi.fn() };
  const items = contextMenuOf({ ...nothing, ...facts }, actions);
  const names = items.map(
    ({ role, label, type, enabled }) => `${role ?? label ?? type}${enabled === false ? ' off' : ''}`,
  );
  const click = (label: string) => {
    const item = items.find((one) => one.label === label);
    item?.click?.(undefined as never, undefined as never, undefined as never);
  };
  return { actions, names, click };
}

test('there is none where nothing can be done', () => {
  expect(menu({}).names).toEqual([]);
  expect(menu({ selectionText: ' \n' }).names).toEqual([]);
  // a citation, and what the app would not open
  expect(menu({ linkURL: 'app://concertina/index.html#a' }).names).toEqual([]);
  expect(menu({ linkURL: 'http://example.com/' }).names).toEqual([]);
});

test('a text field can be cut, copied from and pasted into, as far as it goes now', () => {
  expect(menu({ isEditable: true }).names).toEqual(['cut off', 'copy off', 'paste', 'selectAll']);
});

test('a misspelled word comes with a few suggestions, and can be learned', () => {
  const { names, click, actions } = menu({
    ...{ isEditable: true, misspelledWord: 'teh' },
    dictionarySuggestions: ['the', 'tea', 'ten', 'the', 'eh', 'meh', 'he'],
  });
  expect(names.slice(0, 7)).toEqual(['the', 'tea', 'ten', 'the', 'eh', 'Add to dictionary', 'separator']);
  click('tea');
  click('Add to dictionary');
  expect(actions.replace).toHaveBeenCalledExactlyOnceWith('tea');
  expect(actions.learn).toHaveBeenCalledExactlyOnceWith('teh');
  expect(menu({ isEditable: true, misspelledWord: 'zzzz' }).names[0]).toBe('No spelling suggestions off');
});

test('what is selected can be copied and quoted, also in a link', () => {
  const { names, click, actions } = menu({ selectionText: 'blue key', linkURL: 'https://example.com/' });
  expect(names).toEqual(['Open link', 'Copy link address', 'separator', 'copy', 'Quote in question']);
  for (const name of ['Open link', 'Copy link address', 'Quote in question']) click(name);
  expect(actions.open).toHaveBeenCalledExactlyOnceWith('https://example.com/');
  expect(actions.copy).toHaveBeenCalledExactlyOnceWith('https://example.com/');
  expect(actions.quote).toHaveBeenCalledOnce();
});

test('dictionaries are those of the languages of the system, or English', () => {
  const available = ['de', 'en-GB', 'en-US', 'pt-BR', 'pt-PT'];
  expect(dictionariesFor(['de-AT', 'en_GB', 'de'], available)).toEqual(['de', 'en-GB']);
  expect(dictionariesFor(['pt-BR', 'ja'], available)).toEqual(['pt-BR']);
  expect(dictionariesFor(['ja'], available)).toEqual(['en-US']);
});
