/**
 * What the disk did not take: it stays in memory, people are told, and it is written again every few seconds and at the end of the
 * app, until the disk takes it.
 */
import { msg } from '@lingui/core/runtime-macro';
import { type ErrorPayload, reasonOf, toErrorPayload } from '../../contract/errors';
import { say, type Translatable } from '../../contract/lib/language';
import { SerialQueue } from '../../contract/lib/serialQueue';
import { troubleOf } from '../../contract/lib/systemErrors';
import { Emitter } from './emitter';

interface Held {
  /** for a sentence: "this answer", "the settings" */
  what: Translatable;
  error: unknown;
  write: () => Promise<void>;
}

export class Unsaved {
  /** null: everything is on disk */
  readonly changed = new Emitter<{ error: ErrorPayload | null }>();
  /** a file that can no longer be written, with the system's own words, for the log */
  readonly failed = new Emitter<string>();
  /** by path */
  private readonly held = new Map<string, Held>();
  private readonly queue = new SerialQueue();
  private timer: NodeJS.Timeout | null = null;
  /** what was told last: nothing is told twice */
  private told = 'null';

  constructor(private readonly everyMs = 5000) {}

  /**
   * Keeps what could not be written to `path`, if the system refused it; anything else is thrown again.
   * @param write of all that the file lacks when it is called; again, until it resolves
   */
  hold(path: string, what: Translatable, error: unknown, write: () => Promise<void>): void {
    if (!troubleOf(error)) throw error;
    if (!this.held.has(path)) this.failed.emit(`${path} could not be written: ${rawText(error)}`);
    this.held.set(path, { what, error, write });
    this.tell();
    this.plan();
  }

  /** null: everything is on disk. Else what is not, why, and what to do. */
  status(): ErrorPayload | null {
    const [first] = this.held;
    if (!first) return null;
    const [path, { error }] = first;
    const trouble = troubleOf(error);
    const held = [...this.held.values()].map(({ what }) => what);
    const names = namesOf(held.map(say));
    const list = listOf(held);
    const one = this.held.size === 1 && !names.endsWith('s');
    const are = `${names} ${one ? 'is' : 'are'} not saved yet`;
    const then = `${one ? 'it is' : 'they are'} saved then.`;
    const { code } = toErrorPayload(error);
    if (trouble?.kind === 'full') {
      const said = {
        message: msg`The disk is full. Not saved yet: ${{ list }}.`,
        hint: msg`Free some space: it is saved then.`,
      };
      return { code: 'disk-full', message: `The disk is full: ${are}.`, hint: `Free some space; ${then}`, said };
    }
    const why = trouble?.why ?? reasonOf(error);
    const remedy = say(trouble?.remedy || msg`Check the disk.`);
    const message = `${capitalized(are)}: ${path} cannot be written (${say(why)}).`;
    const hint = `${remedy.replace(/\.$/, '')}; ${then}`;
    const said = {
      message: msg`Not saved yet: ${{ list }}. ${{ path }} cannot be written (${{ why }}).`,
      hint: msg`${{ remedy: trouble?.remedy || msg`Check the disk.` }} It is saved then.`,
    };
    return { code: code === 'internal' ? 'storage-failed' : code, message, hint, said };
  }

  /** Tries everything once more, now. */
  retry(): Promise<void> {
    return this.queue.run(async () => {
      for (const [path, held] of [...this.held]) {
        try {
          await held.write();
          if (this.held.get(path) === held) this.held.delete(path);
        } catch (error) {
          if (this.held.get(path) === held) this.held.set(path, { ...held, error });
        }
      }
      this.tell();
      if (this.held.size > 0) this.plan();
    });
  }

  private plan(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.retry();
    }, this.everyMs).unref();
  }

  private tell(): void {
    const error = this.status();
    const text = JSON.stringify(error);
    if (text === this.told) return;
    this.told = text;
    this.changed.emit({ error });
  }
}

/** Each once. */
function listOf(all: readonly Translatable[]): Translatable {
  const names = new Map(all.map((one) => [say(one), one]));
  return [...names.values()].reduce((list, next) => msg`${{ list }}, ${{ next }}`);
}

/** "this answer and the settings"; several answers are one thing. */
function namesOf(all: readonly string[]): string {
  const names = [...new Set(all)].map((name) => {
    const count = all.filter((one) => one === name).length;
    return count > 1 ? name.replace(/^this (.*)/, `${count} $1s`) : name;
  });
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What the system said, which stands below the sentences made of it. */
function rawText(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return cause === undefined ? (error instanceof Error ? error.message : String(error)) : rawText(cause);
}
