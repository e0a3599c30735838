// Progress of a set-up: one line that is redrawn on a terminal, now and then a plain line elsewhere (CI, logs).

const PLAIN_INTERVAL_MS = 15_000;
const REDRAW_MS = 100;
const WORTH_A_LINE_MS = 1500;

export class Progress {
  #out;
  #tty;
  #count;
  #index = 0;
  #name = '';
  #startedAt = 0;
  #printedAt = 0;
  #timer;
  #last = { fraction: null, detail: '' };

  /** @param {number} count stages to come  @param {NodeJS.WriteStream} [out] */
  constructor(count, out = process.stderr) {
    this.#count = count;
    this.#out = out;
    this.#tty = Boolean(out.isTTY) && !process.env.CI;
  }

  /**
   * Runs one stage. `update` takes a fraction (0..1, or null when it cannot be known) and a detail.
   * @template T
   * @param {string} name
   * @param {(update: (progress: {fraction?: number | null, detail?: string}) => void) => Promise<T>} body
   * @returns {Promise<T>}
   */
  async stage(name, body) {
    this.#index += 1;
    this.#name = name;
    this.#startedAt = Date.now();
    this.#printedAt = this.#startedAt;
    this.#last = { fraction: null, detail: '' };
    // also without news, so that the seconds go on
    this.#timer = setInterval(() => this.#draw(), this.#tty ? 500 : PLAIN_INTERVAL_MS);
    try {
      const result = await body((progress) => this.#update(progress));
      const spent = Date.now() - this.#startedAt;
      // what was up to date is not worth a line
      if (spent >= WORTH_A_LINE_MS) this.#line(`${this.#head()} done in ${(spent / 1000).toFixed(0)} s`);
      return result;
    } finally {
      clearInterval(this.#timer);
      this.#clear();
    }
  }

  /** A line that stays, above the one that is redrawn. @param {string} text */
  note(text) {
    this.#line(text);
  }

  #update(progress) {
    this.#last = { ...this.#last, ...progress };
    if (Date.now() - this.#printedAt >= (this.#tty ? REDRAW_MS : PLAIN_INTERVAL_MS)) this.#draw();
  }

  #draw() {
    this.#printedAt = Date.now();
    const { fraction, detail } = this.#last;
    const state = fraction === null ? '' : ` ${String(Math.floor(fraction * 100)).padStart(3)}%`;
    const seconds = ` ${((Date.now() - this.#startedAt) / 1000).toFixed(0)} s`;
    const text = `${this.#head()}${state}${seconds}${detail ? `  ${detail}` : ''}`;
    if (!this.#tty) this.#line(text);
    else this.#out.write(`\r\x1b[2K${text.slice(0, (this.#out.columns ?? 80) - 1)}`);
  }

  #head() {
    return `[${this.#index}/${this.#count}] ${this.#name}`;
  }

  #clear() {
    if (this.#tty) this.#out.write('\r\x1b[2K');
  }

  #line(text) {
    this.#clear();
    this.#out.write(`${text}\n`);
  }
}
