/** What a person reads when a file cannot be used: what is wrong with it, and what to do. */
import { ConcertinaError } from '../../contract/errors';

export function binary(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    `${name} is not a text file.`,
    'Attach a PDF, a Word document (.docx), a web page or a plain text file, or save it as one of these.',
  );
}

export function damaged(name: string, cause: unknown): ConcertinaError {
  const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/\.+$/, '');
  return new ConcertinaError(
    'document-invalid',
    `${name} is damaged and cannot be read (${reason}).`,
    'Get the file again, or open it in the program that made it and save it anew.',
    { cause },
  );
}

export function locked(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    `${name} is protected by a password.`,
    'Open it in another program, save a copy without the password and attach that.',
  );
}

export function withoutText(name: string, pages: number): ConcertinaError {
  const what = pages === 1 ? 'its one page holds no text' : `none of its ${pages} pages holds text`;
  return new ConcertinaError(
    'document-unsupported',
    `${name} is a scanned document: ${what}, only pictures.`,
    'Concertina cannot read pictures. Run a text recognition (OCR) program over it and attach the result.',
  );
}

export function empty(name: string): ConcertinaError {
  return new ConcertinaError('document-unsupported', `${name} holds no text.`, 'Choose another file.');
}
