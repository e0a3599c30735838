import type { HubAccount } from '../../../electron/contract/hub';

/** Whether a token is sent along, and where it is kept. */
export function accountText({ token, canSave }: Pick<HubAccount, 'token' | 'canSave'>): string {
  if (token === 'saved') return 'An access token is saved, encrypted by the keyring of this system.';
  if (token === 'environment') return 'The access token of the environment variable HF_TOKEN is used.';
  if (canSave) return 'No access token. Models that are given only to people who agreed to their terms need one.';
  return 'No access token, and it could not be kept safely here. Start Concertina with HF_TOKEN in the environment.';
}
