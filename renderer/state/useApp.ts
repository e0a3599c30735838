/** How components reach the store: one value per selector, actions apart. */
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import type { AppState } from './appState';
import type { Actions, AppStore } from './store';

export const AppContext = createContext<AppStore | null>(null);

function useAppContext(): AppStore {
  const app = useContext(AppContext);
  if (!app) throw new Error('A component that reads the store stands outside of AppContext.');
  return app;
}

export function useApp<T>(selector: (state: AppState) => T): T {
  return useStore(useAppContext().store, selector);
}

export function useActions(): Actions {
  return useAppContext().actions;
}
