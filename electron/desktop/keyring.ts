/** The keyring of the system, for the access token of the hub. */
import { safeStorage } from 'electron';
import type { Keyring } from '../services/hub/token';

export const keyring: Keyring = {
  // without a keyring Linux "encrypts" with a password that everyone knows
  available: () =>
    safeStorage.isEncryptionAvailable() &&
    (process.platform !== 'linux' || safeStorage.getSelectedStorageBackend?.() !== 'basic_text'),
  encrypt: (text) => safeStorage.encryptString(text),
  decrypt: (data) => safeStorage.decryptString(data),
};
