/**
 * What the operating system and the network call a failure (ENOSPC, ECONNREFUSED, ...), in words, and what a person can do about
 * it. Every one that reaches a person goes through here; the code itself stays in the log.
 */

/** `full`: there is no room on the disk. */
type Kind = 'full' | 'storage' | 'network' | 'certificate';

export interface SystemTrouble {
  code: string;
  kind: Kind;
  /** what stands behind "report.txt could not be written: ", without a full stop */
  why: string;
  /** a sentence; '': nobody knows */
  remedy: string;
}

type Words = readonly [why: string, remedy: string];

const room = 'Free some space and try again.';
const rights = 'Change its permissions, or choose another place.';
const connected = 'Check that the disk is connected and the file was not moved.';
const release = 'Close programs that may have it open, such as a virus scanner, a backup or a sync program.';

const full: Record<string, Words> = {
  ENOSPC: ['the disk is full', room],
  EDQUOT: ['your share of the disk is used up', room],
};

const storage: Record<string, Words> = {
  EFBIG: ['the file is larger than this disk allows', 'Choose a folder on another disk.'],
  EACCES: ['its permissions do not allow that', rights],
  // Windows says this of a file that another program has open, too
  EPERM: ['the system does not allow that', `${rights} ${release}`],
  EROFS: ['the disk is read-only', 'Make the disk writable, or choose a folder on another one.'],
  ENOENT: ['it is not there', connected],
  ENOTDIR: ['it, or a folder above it, is a file', 'Choose another place.'],
  EISDIR: ['it is a folder', 'Choose a file.'],
  EEXIST: ['something of this name is there already', 'Choose another name, or remove what is there.'],
  ENOTEMPTY: ['the folder is not empty', 'Remove what is in it.'],
  EXDEV: ['it cannot be moved to another disk', 'Choose a folder on the same disk.'],
  EMFILE: ['too many files are open', 'Close other programs and try again.'],
  ENFILE: ['too many files are open', 'Close other programs and try again.'],
  EBUSY: ['another program is using it', release],
  ETXTBSY: ['it is a program that runs', 'End that program and try again.'],
  EIO: ['the disk reports a fault', 'Check the disk and its cable, and copy what matters to another one.'],
  ENODEV: ['the disk is not connected any more', connected],
  ENXIO: ['the disk is not connected any more', connected],
  ENAMETOOLONG: ['its name or path is too long', 'Choose a shorter one.'],
  ELOOP: ['its links lead in a circle', 'Choose the file itself.'],
  EAGAIN: ['the system is busy', 'Try again.'],
  ENOMEM: ['the system has no memory left for it', 'Close other programs and try again.'],
};

const connection = 'Check the connection to the network.';
const later = 'Try again later.';

const network: Record<string, Words> = {
  ENOTFOUND: ['there is no such address, or no network', connection],
  EAI_AGAIN: ['there is no network', connection],
  ENETUNREACH: ['there is no network', connection],
  ENETDOWN: ['there is no network', connection],
  EHOSTUNREACH: ['there is no way to it', connection],
  EADDRINUSE: ['its port is taken by another program', 'Choose another port.'],
  EADDRNOTAVAIL: ['this computer has no such address', 'Choose another address.'],
  ECONNREFUSED: ['it does not take the connection', 'Check that it is running, and its address.'],
  ECONNRESET: ['the connection was cut', later],
  ECONNABORTED: ['the connection was cut', later],
  EPIPE: ['the connection was cut', later],
  UND_ERR_SOCKET: ['the connection was cut', later],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['the connection was cut', later],
  ETIMEDOUT: ['it does not answer', later],
  UND_ERR_CONNECT_TIMEOUT: ['it does not answer', later],
  UND_ERR_HEADERS_TIMEOUT: ['it does not answer', later],
  UND_ERR_BODY_TIMEOUT: ['nothing arrives any more', later],
};

const proxy = 'Behind a company proxy, name its certificate with NODE_EXTRA_CA_CERTS.';
const clock = 'Check the date and time of this computer.';

const certificate: Record<string, Words> = {
  CERT_HAS_EXPIRED: ['its certificate has expired', clock],
  CERT_NOT_YET_VALID: ['its certificate is not valid yet', clock],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is that of another address', proxy],
};

const certificateCode = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/;

/** null: neither this error nor what caused it is one of the system. */
export function troubleOf(error: unknown): SystemTrouble | null {
  const { code, cause, message, syscall } = (error ?? {}) as Record<string, unknown>;
  const found = typeof code === 'string' ? known(code) : null;
  if (found) return found;
  if (typeof code === 'string' && typeof syscall === 'string') return unknownTrouble(code, String(message));
  return cause === undefined || cause === error ? null : troubleOf(cause);
}

function known(code: string): SystemTrouble | null {
  const tables = { full, storage, network, certificate };
  for (const [kind, table] of Object.entries(tables) as [Kind, Record<string, Words>][]) {
    const words = Object.hasOwn(table, code) ? table[code] : undefined;
    if (words) return { code, kind, why: words[0], remedy: words[1] };
  }
  if (!/^[A-Z][A-Z_]+$/.test(code) || !certificateCode.test(code)) return null;
  return { code, kind: 'certificate', why: 'its certificate is not trusted', remedy: proxy };
}

/** The system's own sentence stands between the code and the call: "ENOSTR: device not a stream, read". */
function unknownTrouble(code: string, message: string): SystemTrouble {
  const why = /^[A-Z0-9_]+: ([^,']+)/.exec(message)?.[1] ?? 'the system refused it';
  return { code, kind: 'storage', why: `${why} (${code})`, remedy: '' };
}

/** The file or the address that it is about, as far as the error tells: "notes.txt", "127.0.0.1:8080". */
export function subjectOf(error: unknown): string | null {
  const { path, hostname, address, port, cause } = (error ?? {}) as Record<string, unknown>;
  if (typeof path === 'string') return path.split(/[\\/]/).at(-1) || path;
  if (typeof hostname === 'string') return hostname;
  if (typeof address === 'string') return typeof port === 'number' ? `${address}:${port}` : address;
  return cause === undefined || cause === error ? null : subjectOf(cause);
}
