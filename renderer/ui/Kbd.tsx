const macNames: Record<string, string> = { Mod: '⌘', Shift: '⇧', Enter: '↩', Esc: 'esc' };
const otherNames: Record<string, string> = { Mod: 'Ctrl' };

export function keyLabel(keys: string): string {
  const names = isMac ? macNames : otherNames;
  return keys
    .split('+')
    .map((key) => names[key] ?? key)
    .join(isMac ? '' : '+');
}

export function Kbd({ keys }: { keys: string }) {
  return (
    <kbd className="rounded-sm border border-current/25 px-1 font-sans text-[0.6875rem] leading-4 opacity-80">
      {keyLabel(keys)}
    </kbd>
  );
}

/** Keyboard names differ on a Mac; everything else in the window is the same. */
export const isMac = typeof navigator !== 'undefined' && /Mac/i.test(navigator.platform);
