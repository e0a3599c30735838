/**
 * The access token of the hub. On a desktop it is kept encrypted by the system's keyring; without a window only the environment
 * gives one. Nothing here returns it to a window, a log or a file in the clear.
 */

import { readFile, rm } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import type { HubAccount } from '../../contract/hub';
import { isMissing, storageError, writeFileAtomic } from '../lib/files';

/** The keyring of the system; Electron's safeStorage has this shape. */
export interface Keyring {
  /** false: what it would write could be read by anyone */
  available(): boolean;
  encrypt(text: string): Buffer;
  decrypt(data: Buffer): string;
}

/** Printable, without blanks: it goes into a header. */
const usable = /^[\x21-\x7e]{8,500}$/;

export class TokenStore {
  readonly notices: string[] = [];
  private saved: string | null = null;
  private readonly fromEnvironment: string | null;

  constructor(
    private readonly path: string,
    private readonly keyring: Keyring | null,
    environment: NodeJS.ProcessEnv = process.env,
  ) {
    const given = environment.HF_TOKEN?.trim() ?? '';
    this.fromEnvironment = usable.test(given) ? given : null;
    if (given !== '' && this.fromEnvironment === null)
      this.notices.push('HF_TOKEN is no access token; it is not used.');
  }

  async load(): Promise<void> {
    if (!this.keyring) return;
    try {
      const data = Buffer.from(await readFile(this.path, 'utf8'), 'base64');
      const token = this.keyring.decrypt(data);
      this.saved = usable.test(token) ? token : null;
    } catch (error) {
      if (!isMissing(error)) {
        this.notices.push('The saved access token of the hub could not be read. Save it again in the settings.');
      }
    }
  }

  /** One that was saved on purpose goes before that of the environment. */
  get(): string | null {
    return this.saved ?? this.fromEnvironment;
  }

  get source(): HubAccount['token'] {
    if (this.saved !== null) return 'saved';
    return this.fromEnvironment === null ? 'none' : 'environment';
  }

  get canSave(): boolean {
    return this.keyring?.available() ?? false;
  }

  /** Values that may appear nowhere; for the diagnostics. */
  secrets(): string[] {
    return [this.saved, this.fromEnvironment].filter((one) => one !== null);
  }

  /** null: forgets the saved one */
  async set(token: string | null): Promise<void> {
    if (token === null) {
      await rm(this.path, { force: true }).catch((error) => {
        throw storageError('The access token could not be removed', error);
      });
      this.saved = null;
      return;
    }
    if (!this.keyring || !this.canSave) {
      throw new ConcertinaError(
        'forbidden',
        msg`An access token cannot be kept safely here.`,
        msg`Start Concertina with the environment variable HF_TOKEN instead.`,
      );
    }
    const trimmed = token.trim();
    if (!usable.test(trimmed)) {
      throw new ConcertinaError(
        'bad-request',
        msg`This is no access token.`,
        msg`Copy it again from the page of the hub.`,
      );
    }
    await writeFileAtomic(this.path, this.keyring.encrypt(trimmed).toString('base64'));
    this.saved = trimmed;
  }
}
