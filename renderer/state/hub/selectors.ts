import type { AppState } from '../appState';

export const selectHubQuery = (state: AppState) => state.hub.query;
export const selectHubSort = (state: AppState) => state.hub.sort;
export const selectHubSearching = (state: AppState) => state.hub.searching;
export const selectHubAsksMore = (state: AppState) => state.hub.asksMore;
export const selectHubResults = (state: AppState) => state.hub.results;
export const selectHubProblem = (state: AppState) => state.hub.problem;
export const selectCatalogue = (state: AppState) => state.hub.catalogue;
export const selectHubPage = (state: AppState) => state.hub.page;
export const selectAskedContext = (state: AppState) => state.hub.asked;
export const selectHubFits = (state: AppState) => state.hub.fits;
export const selectHubAccount = (state: AppState) => state.hub.account;
