/** Documents of each kind with changed bytes, read by the process that reads them in the app. */
import fs from 'node:fs';
import path from 'node:path';
import type { TextKind } from '@/electron/contract/documents';
import { runExtraction } from '@/electron/services/documents/extraction';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { makeDocx, paragraph, table } from '@/test/fixtures/documents/docx';
import { makeEpub, makeOdf, makePptx, makeXlsx } from '@/test/fixtures/documents/office';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { type Attack, type Edit, edited, type Outcome, someEdits, tried } from './target';

interface Case {
  kind: TextKind;
  edits: Edit[];
}

const text = 'The harbor lamp was lit by Tom Alder. Nobody else had the key.';
const html = `<html><head><title>T</title></head><body><h1>Lamp</h1><p>${text}</p><table><tr><td>1</td></tr></table></body></html>`;
const mail = [
  ...['From: a@example.org', 'Subject: =?utf-8?B?TGFtcA==?=', 'MIME-Version: 1.0'],
  ...['Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: text/html; charset=utf-8'],
  ...['Content-Transfer-Encoding: quoted-printable', '', `<p>${text}=3D</p>`, '--b--', ''],
].join('\r\n');

const originals = {
  pdf: () => makePdf([{ lines: [text, '', [72, 300, text]] }, { lines: ['Page two'] }], { labels: '0 << /S /r >>' }),
  docx: () => makeDocx([paragraph('Lamp', 'Heading 1'), paragraph(text), table([['a', 'b']])]),
  odt: () => makeOdf('text', `<text:h text:outline-level="1">Lamp</text:h><text:p>${text}</text:p>`),
  xlsx: () => makeXlsx({ Lamps: { A1: 'Name', B1: text, A2: { value: 3, formula: 'A1' }, B2: 1 } }),
  pptx: () => makePptx([{ title: 'Lamp', text: [text], notes: 'n' }]),
  epub: () => makeEpub([{ title: 'Lamp', body: `<p>${text}</p>` }]),
  rtf: () => Buffer.from(`{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 A;}}\\f0 ${text}\\par \\u8364? {\\b bold}}`),
  html: () => Buffer.from(html),
  markdown: () => Buffer.from(`# Lamp\n\n${text}\n\n- a\n- b\n\n\`\`\`js\nx\n\`\`\`\n`),
  csv: () => Buffer.from(`name,lit\n"${text}",1\n"a ""b""",2\n`),
  eml: () => Buffer.from(mail),
} satisfies Partial<Record<TextKind, () => Buffer>>;

type Kind = keyof typeof originals;

/** Less than in the app: a case that takes all of it says so in seconds. */
const limits = { stallSeconds: 20, totalSeconds: 40 };
/** what `tried` calls a bug and is the end of a process that has one of its own */
const ended = 'ended unexpectedly';

export async function documents(folder: string): Promise<Attack<Case>> {
  const program = path.resolve('build', 'app', 'documents.cjs');
  const bundles = path.resolve('build', 'app');
  const folders = {
    cMaps: path.join(bundles, 'cmaps'),
    ocr: path.join(bundles, 'ocr'),
    languages: path.join(folder, 'none'),
  };
  const made = new Map(Object.entries(originals).map(([kind, make]) => [kind, make()]));
  const kinds = Object.keys(originals) as Kind[];
  let ends = 0;
  let number = 0;

  async function run({ kind, edits }: Case): Promise<Outcome> {
    const file = path.join(folder, `case-${++number}`);
    const bytes = edited(made.get(kind) ?? Buffer.alloc(0), edits);
    fs.writeFileSync(file, bytes);
    const task = {
      path: file,
      name: `a.${kind}`,
      kind,
      bytes: bytes.length,
      textPath: `${file}.txt`,
      folders,
      password: null,
    };
    const signal = new AbortController().signal;
    try {
      const outcome = await tried(() =>
        runExtraction(task, {
          openProcess: () => forkProcess(program),
          signal,
          limits,
          onProgress: () => undefined,
        }).catch((error: unknown) => {
          // the process is there for that: the app says so and goes on
          if (String(error).includes(ended)) ends++;
          throw error;
        }),
      );
      return outcome;
    } finally {
      for (const one of [file, `${file}.txt`]) fs.rmSync(one, { force: true });
    }
  }

  return {
    // a start of the process takes longer than a document
    atOnce: 2,
    make(random, index) {
      const kind = kinds[index % kinds.length] ?? 'pdf';
      const length = made.get(kind)?.length ?? 1;
      return { kind, edits: someEdits(random, length) };
    },
    run,
    note: () => `${ends} ended the process that reads them`,
    close: async () => undefined,
  };
}
