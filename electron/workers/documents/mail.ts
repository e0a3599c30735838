/** Messages that a mail program saved (.eml, RFC 5322): who wrote when to whom, and the words. */

import { readFileSync } from 'node:fs';
import PostalMime, { type Address, type Email } from 'postal-mime';
import { escaped, HtmlText } from './htmlText';
import { damaged, type Extractor } from './textSink';

export const extractMail: Extractor = async ({ path, name }, sink, onProgress) => {
  const mail = await PostalMime.parse(readFileSync(path)).catch((error: unknown) => {
    throw damaged(name, error);
  });
  onProgress(0.8);
  const heads = headsOf(mail);
  if (heads.length === 0) throw damaged(name, 'it is no message of a mail program');
  const text = new HtmlText(sink);
  text.feed(`<p>${heads.map(escaped).join('<br>')}</p>`);
  text.feed(mail.html !== undefined && mail.text === undefined ? mail.html : `<pre>${escaped(mail.text ?? '')}</pre>`);
  return { pages: null, sections: text.end(), notices: [...attachmentNotice(mail), ...text.notices()] };
};

/** "From: Ann <ann@example.com>", and so on, in the order in which people read them. */
function headsOf({ from, to = [], cc = [], date, subject, attachments }: Email): string[] {
  const files = attachments.flatMap(({ filename }) => filename ?? []);
  const heads: [string, string][] = [
    ['From', from ? addressText(from) : ''],
    ['To', to.map(addressText).join(', ')],
    ['Cc', cc.map(addressText).join(', ')],
    ['Date', date ?? ''],
    ['Subject', subject ?? ''],
    ['Attachments', files.join(', ')],
  ];
  return heads.flatMap(([head, words]) => (words === '' ? [] : `${head}: ${words}`));
}

function addressText({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(addressText).join(', ')}`;
  return name ? `${name} <${address}>` : (address ?? '');
}

function attachmentNotice({ attachments }: Email): string[] {
  if (attachments.length === 0) return [];
  return [
    attachments.length === 1
      ? 'The file that is attached to this message was left out: save it, and attach it here.'
      : `The ${attachments.length} files that are attached to this message were left out: save them, and attach them here.`,
  ];
}
