/** What happened in this run of the app, for the diagnostics: kept in memory, the newest of each kind, never written down. */
import type { AnswerStats } from '../../contract/chats';

const keptLines = 40;
const keptAnswers = 5;
const longestLine = 300;

export interface RecordedAnswer {
  at: number;
  stats: AnswerStats;
}

export class RunRecord {
  /** llama.cpp's warnings and errors, oldest first; the same line again only counts */
  readonly lines: { level: 'warn' | 'error'; text: string; times: number }[] = [];
  /** errors of the engine: failed loads, crashes */
  readonly errors: { at: number; text: string }[] = [];
  readonly answers: RecordedAnswer[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  addLine(level: 'warn' | 'error', text: string): void {
    const line = text.trim().slice(0, longestLine);
    const last = this.lines.at(-1);
    if (last?.text === line && last.level === level) last.times++;
    else keep(this.lines, { level, text: line, times: 1 }, keptLines);
  }

  addError(text: string): void {
    if (this.errors.at(-1)?.text !== text) keep(this.errors, { at: this.now(), text }, keptAnswers);
  }

  addAnswer(stats: AnswerStats): void {
    keep(this.answers, { at: this.now(), stats }, keptAnswers);
  }
}

function keep<T>(list: T[], one: T, most: number): void {
  list.push(one);
  if (list.length > most) list.shift();
}
