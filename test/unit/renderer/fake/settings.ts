/** What the fake services keep for a person: settings, presets, saved sessions; and what they tell of the app. */
import type { Handlers } from '@/electron/contract/contract';
import { applyPatch, splitPatch, withDefaults } from '@/electron/contract/settings';
import type { FakeState } from './state';

export function settingsHandlers(state: FakeState): Partial<Handlers> {
  return { ...appHandlers(state), ...ownHandlers(state), ...presetHandlers(state), ...sessionHandlers(state) };
}

function appHandlers(state: FakeState): Partial<Handlers> {
  return {
    'app.power': async () => ({ thermal: 'unknown', speedLimit: null, onBattery: null }),
    'app.info': async () => {
      const { headless, notices } = state;
      return { version: '0.1.0', platform: 'linux', headless, runtime: 'fake', notices };
    },
  };
}

function ownHandlers(state: FakeState): Partial<Handlers> {
  /** What the model in use has of its own; changes of it are not kept here. */
  const own = () => state.models.find(({ id }) => id === state.status.modelId)?.defaults ?? null;
  const inUse = () => withDefaults(state.settings, own());

  return {
    'settings.get': async (input) => (input?.scope === 'all' ? state.settings : inUse()),
    'settings.update': async (input) => {
      const { scope, ...change } = input;
      const rest = scope === 'all' ? change : splitPatch(change, own()).rest;
      state.settings = applyPatch(state.settings, rest);
      return inUse();
    },
  };
}

function presetHandlers(state: FakeState): Partial<Handlers> {
  return {
    'presets.list': async () => state.presets,
    'presets.save': async ({ presetId, preset }) => {
      const id = presetId ?? state.nextId('preset');
      const others = state.presets.presets.filter((one) => one.id !== id);
      state.presets = { ...state.presets, presets: [...others, { ...preset, id }] };
      return state.presets;
    },
    'presets.remove': async ({ presetId }) => {
      state.presets = { presets: state.presets.presets.filter(({ id }) => id !== presetId), defaultId: null };
      return state.presets;
    },
    'presets.setDefault': async ({ presetId }) => {
      state.presets = { ...state.presets, defaultId: presetId };
      return state.presets;
    },
  };
}

function sessionHandlers(state: FakeState): Partial<Handlers> {
  return {
    'sessions.list': async () => state.sessions,
    'sessions.remove': async ({ sessionId }) => {
      state.sessions = state.sessions.filter(({ id }) => id !== sessionId);
    },
    'sessions.clear': async () => {
      state.sessions = [];
    },
  };
}
