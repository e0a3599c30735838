import type { AppState } from '../appState';

export const selectStatus = (state: AppState) => state.engine.status;
export const selectEngineState = (state: AppState) => state.engine.status?.state ?? null;
export const selectLoadedModel = (state: AppState) => state.engine.status?.model ?? null;
export const selectLoadedModelId = (state: AppState) => state.engine.status?.modelId ?? null;
export const selectLoadedContext = (state: AppState) => state.engine.status?.context ?? null;
export const selectCapabilities = (state: AppState) => state.engine.status?.capabilities ?? null;
export const selectKvBytes = (state: AppState): number => {
  const memory = state.engine.status?.memory;
  return memory ? memory.kvK + memory.kvV : 0;
};
export const selectMemory = (state: AppState) => state.engine.status?.memory ?? null;
export const selectLoadProgress = (state: AppState) => state.engine.status?.loadProgress ?? null;
export const selectInfo = (state: AppState) => state.engine.info;
export const selectConnection = (state: AppState) => state.engine.connection;
export const selectRecovered = (state: AppState) => state.engine.recovered;
/** a model that was asked for and could not be had, until the person has closed what is said of it */
export const selectRefusal = ({ engine }: AppState) => {
  const refused = engine.status?.refused ?? null;
  return refused === engine.closedRefusal ? null : refused;
};
export const selectHeadless = (state: AppState) => state.engine.info?.headless ?? false;
export const selectContextUsed = (state: AppState) => state.engine.status?.contextUsed ?? 0;
/** The engine process is there to be asked about a model, whether one is loaded or not. */
export const selectCanAsk = (state: AppState) =>
  ['ready', 'generating', 'failed', 'empty'].includes(state.engine.status?.state ?? '');
/** A model is there to answer, now or when it has finished the answer before. */
export const selectCanAnswer = (state: AppState) =>
  state.engine.status?.state === 'ready' || state.engine.status?.state === 'generating';
