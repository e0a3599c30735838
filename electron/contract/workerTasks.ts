/** What passes between a service and its worker thread: tasks by number, each answered once unless it is cancelled. */
import type { ErrorPayload } from './errors';

export type ToThread<Task> = { id: number; task: Task } | { id: number; cancel: true };

/** `fraction`: 0 to 1, how much of a task that takes longer is done */
export type FromThread<Answer> = { id: number } & ({ answer: Answer } | { error: ErrorPayload } | { fraction: number });
