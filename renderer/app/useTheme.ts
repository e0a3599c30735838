import { useEffect } from 'react';
import { selectTheme } from '../state/settings/selectors';
import { useApp } from '../state/useApp';
import { useMediaQuery } from '../ui/useMediaQuery';
import { applyTheme } from './theme';

/** Follows the setting and, where it says so, the system. */
export function useTheme(): 'light' | 'dark' {
  const theme = useApp(selectTheme);
  const systemDark = useMediaQuery('(prefers-color-scheme: dark)');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the system's scheme has to be applied too
  useEffect(() => {
    if (theme !== null) applyTheme(theme);
  }, [theme, systemDark]);
  return theme === 'dark' || (theme !== 'light' && systemDark) ? 'dark' : 'light';
}
