/** Keyboard names differ on a Mac; everything else in the window is the same. */
export const isMac = typeof navigator !== 'undefined' && /Mac/i.test(navigator.platform);
