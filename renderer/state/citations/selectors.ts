import type { AppState } from '../appState';
import type { QuotePlace } from './state';

const none: Readonly<Record<string, QuotePlace>> = {};

export const selectCitedSections = (state: AppState) => state.citations.sections;

export function selectQuotes(messageId: string) {
  return (state: AppState) => state.citations.quotes[messageId] ?? none;
}
