/**
 * What the operating system and the network call a failure (ENOSPC, ECONNREFUSED, ...), in words, and what a person can do about
 * it. Every one that reaches a person goes through here; the code itself stays in the log.
 */

import { msg } from '@lingui/core/runtime-macro';
import type { Translatable } from './language';

/** `full`: there is no room on the disk. */
type Kind = 'full' | 'storage' | 'network' | 'certificate';

export interface SystemTrouble {
  code: string;
  kind: Kind;
  /** what stands behind "report.txt could not be written: ", without a full stop */
  why: Translatable;
  /** a sentence; '': nobody knows */
  remedy: Translatable;
}

type Words = readonly [why: Translatable, remedy: Translatable];

const room = msg`Free some space and try again.`;
const rights = msg`Change its permissions, or choose another place.`;
const connected = msg`Check that the disk is connected and the file was not moved.`;
const release = msg`Close programs that may have it open, such as a virus scanner, a backup or a sync program.`;

const full: Record<string, Words> = {
  ENOSPC: [msg`the disk is full`, room],
  EDQUOT: [msg`your share of the disk is used up`, room],
};

const storage: Record<string, Words> = {
  EFBIG: [msg`the file is larger than this disk allows`, msg`Choose a folder on another disk.`],
  EACCES: [msg`its permissions do not allow that`, rights],
  // Windows says this of a file that another program has open, too
  EPERM: [msg`the system does not allow that`, msg`${{ rights }} ${{ release }}`],
  EROFS: [msg`the disk is read-only`, msg`Make the disk writable, or choose a folder on another one.`],
  ENOENT: [msg`it is not there`, connected],
  ENOTDIR: [msg`it, or a folder above it, is a file`, msg`Choose another place.`],
  EISDIR: [msg`it is a folder`, msg`Choose a file.`],
  EEXIST: [msg`something of this name is there already`, msg`Choose another name, or remove what is there.`],
  ENOTEMPTY: [msg`the folder is not empty`, msg`Remove what is in it.`],
  EXDEV: [msg`it cannot be moved to another disk`, msg`Choose a folder on the same disk.`],
  EMFILE: [msg`too many files are open`, msg`Close other programs and try again.`],
  ENFILE: [msg`too many files are open`, msg`Close other programs and try again.`],
  EBUSY: [msg`another program is using it`, release],
  ETXTBSY: [msg`it is a program that runs`, msg`End that program and try again.`],
  EIO: [msg`the disk reports a fault`, msg`Check the disk and its cable, and copy what matters to another one.`],
  ENODEV: [msg`the disk is not connected any more`, connected],
  ENXIO: [msg`the disk is not connected any more`, connected],
  ENAMETOOLONG: [msg`its name or path is too long`, msg`Choose a shorter one.`],
  ELOOP: [msg`its links lead in a circle`, msg`Choose the file itself.`],
  EAGAIN: [msg`the system is busy`, msg`Try again.`],
  ENOMEM: [msg`the system has no memory left for it`, msg`Close other programs and try again.`],
};

const connection = msg`Check the connection to the network.`;
const later = msg`Try again later.`;

const network: Record<string, Words> = {
  ENOTFOUND: [msg`there is no such address, or no network`, connection],
  EAI_AGAIN: [msg`there is no network`, connection],
  ENETUNREACH: [msg`there is no network`, connection],
  ENETDOWN: [msg`there is no network`, connection],
  EHOSTUNREACH: [msg`there is no way to it`, connection],
  EADDRINUSE: [msg`its port is taken by another program`, msg`Choose another port.`],
  EADDRNOTAVAIL: [msg`this computer has no such address`, msg`Choose another address.`],
  ECONNREFUSED: [msg`it does not take the connection`, msg`Check that it is running, and its address.`],
  ECONNRESET: [msg`the connection was cut`, later],
  ECONNABORTED: [msg`the connection was cut`, later],
  EPIPE: [msg`the connection was cut`, later],
  UND_ERR_SOCKET: [msg`the connection was cut`, later],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: [msg`the connection was cut`, later],
  ETIMEDOUT: [msg`it does not answer`, later],
  UND_ERR_CONNECT_TIMEOUT: [msg`it does not answer`, later],
  UND_ERR_HEADERS_TIMEOUT: [msg`it does not answer`, later],
  UND_ERR_BODY_TIMEOUT: [msg`nothing arrives any more`, later],
};

const proxy = msg`Behind a company proxy, name its certificate with NODE_EXTRA_CA_CERTS.`;
const clock = msg`Check the date and time of this computer.`;

const certificate: Record<string, Words> = {
  CERT_HAS_EXPIRED: [msg`its certificate has expired`, clock],
  CERT_NOT_YET_VALID: [msg`its certificate is not valid yet`, clock],
  ERR_TLS_CERT_ALTNAME_INVALID: [msg`its certificate is that of another address`, proxy],
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
  return { code, kind: 'certificate', why: msg`its certificate is not trusted`, remedy: proxy };
}

/** The system's own sentence stands between the code and the call: "ENOSTR: device not a stream, read". */
function unknownTrouble(code: string, message: string): SystemTrouble {
  const why = /^[A-Z0-9_]+: ([^,']+)/.exec(message)?.[1] ?? msg`the system refused it`;
  return { code, kind: 'storage', why: msg`${{ why }} (${{ code }})`, remedy: '' };
}

/** The file or the address that it is about, as far as the error tells: "notes.txt", "127.0.0.1:8080". */
export function subjectOf(error: unknown): string | null {
  const { path, hostname, address, port, cause } = (error ?? {}) as Record<string, unknown>;
  if (typeof path === 'string') return path.split(/[\\/]/).at(-1) || path;
  if (typeof hostname === 'string') return hostname;
  if (typeof address === 'string') return typeof port === 'number' ? `${address}:${port}` : address;
  return cause === undefined || cause === error ? null : subjectOf(cause);
}
