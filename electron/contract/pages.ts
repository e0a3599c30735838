/** Resident memory of a process by kind of page, as Linux tells it in /proc/PID/status. */

export interface Pages {
  /** bytes that belong to the process and are taken from the machine */
  own: number;
  /** bytes of files, which the system may drop and read again */
  file: number;
}

/** Null when the text holds no such figures (a process that has ended, an old kernel). */
export function pagesOf(status: string): Pages | null {
  const bytes = (name: string): number | null => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  };
  const anonymous = bytes('RssAnon');
  const file = bytes('RssFile');
  const shared = bytes('RssShmem');
  return anonymous === null || file === null || shared === null ? null : { own: anonymous + shared, file };
}
