/** The jobs of this run as a window sees them: changes of state at once, progress a few times a second. */
import type { DocumentJob } from '../../contract/documents';
import { Emitter } from '../lib/emitter';

const endedKept = 50;
const msBetweenTellings = 100;

export class JobList {
  readonly changed = new Emitter<DocumentJob[]>();
  private readonly jobs = new Map<string, DocumentJob>();
  private timer: NodeJS.Timeout | null = null;

  /** in the order of their beginning */
  list(): DocumentJob[] {
    return [...this.jobs.values()];
  }

  get(id: string): DocumentJob | undefined {
    return this.jobs.get(id);
  }

  add(id: string, name: string): void {
    this.jobs.set(id, { id, name, state: 'waiting', progress: 0, pages: null, document: null, error: null });
    this.forgetOld();
    this.tell();
  }

  update(id: string, change: Partial<DocumentJob>): void {
    const job = this.jobs.get(id);
    if (!job) return;
    this.jobs.set(id, { ...job, ...change });
    if (change.state) this.tell();
    else this.timer ??= setTimeout(() => this.tell(), msBetweenTellings);
  }

  close(): void {
    if (this.timer) clearTimeout(this.timer);
  }

  private tell(): void {
    this.close();
    this.timer = null;
    this.changed.emit(this.list());
  }

  private forgetOld(): void {
    const ended = this.list().filter(({ state }) => state !== 'waiting' && state !== 'reading');
    for (const { id } of ended.slice(0, Math.max(0, ended.length - endedKept))) this.jobs.delete(id);
  }
}
