/**
 * What llama-server's handlers cannot stand in the body of a request, refused before they see it: a grammar or a schema over
 * which the reader ends the process or never ends, addresses that it would fetch, and fields that are meant for the server itself. Also what they answer as
 * if they had failed where it is the request that is wrong.
 */
import type { ApiPart } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { requireSafeMedia } from './mediaChecks';

/** of a grammar; the reader calls itself for each group inside of another, and for each rule that begins with another one */
const mostGrammarLength = 1_000_000;
const mostGroups = 100;
const mostRules = 2000;
/** of a rule or of a pattern; each multiplies what every token is held against */
const mostRepetitions = 200;
/** tokens that a penalty looks back on: memory for all of them is taken at once */
const farthestBack = 2 ** 20;
/** of a number in a schema: larger ones overflow in the writer of its grammar, which then has no end */
const largestNumber = 2 ** 53;

/** of a float: what is beyond is infinite for the samplers, and then no number at all */
const largestFloat = 3.4e38;

/** Throws `bad-request` with the field that is wrong. */
export function requireSafe(body: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'number' && Math.abs(value) > largestFloat)
      throw refused(name, `has a number beyond ${largestFloat}`, 'Give a number nearer to 0.');
  }
  for (const name of ['chat_parser', 'chat_format'] as const) {
    if ((body[name] ?? null) !== null) throw refused(name, 'is set by the server itself', 'Leave it out.');
  }
  for (const name of ['repeat_last_n', 'dry_penalty_last_n'] as const) {
    if (Number(body[name]) > farthestBack)
      throw refused(name, `may be ${farthestBack} at most`, 'Give a smaller number.');
  }
  requireSafeMedia(body);
  if (typeof body.grammar === 'string') requireSafeGrammar(body.grammar);
  requireWords(body.grammar_triggers);
  for (const name of ['json_schema', 'response_format', 'text', 'output_config', 'tools'] as const) {
    requireSafeSchema(body[name], name);
  }
}

function refused(field: string, what: string, hint: string): ConcertinaError {
  return new ConcertinaError('bad-request', `The field ${field} ${what}.`, hint);
}

/** Literals, sets of characters and comments: nothing in them is counted. */
const literals = /"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|#[^\n]*/gs;

function requireSafeGrammar(grammar: string): void {
  // a build without llguidance ends the process over it
  if (grammar.startsWith('%llguidance'))
    throw refused('grammar', 'is written for llguidance, which is not in this build', 'Write it as GBNF.');
  if (grammar.length > mostGrammarLength)
    throw refused('grammar', `may have ${mostGrammarLength} characters at most`, 'Make it shorter.');
  const bare = grammar.replace(literals, ' ');
  if (bare.split('::=').length - 1 > mostRules)
    throw refused('grammar', `may have ${mostRules} rules at most`, 'Make it simpler.');
  let depth = 0;
  for (const sign of bare.matchAll(/[()]/g)) {
    depth += sign[0] === '(' ? 1 : -1;
    if (depth > mostGroups)
      throw refused('grammar', `may have ${mostGroups} groups inside of one another at most`, 'Make it simpler.');
  }
  for (const rule of bare.split('::=')) requireRepetitions(rule, 'grammar');
}

/** Of a rule or a pattern. Of fewer at most than at least the reader makes 2 to the power of 64. */
function requireRepetitions(text: string, field: string): void {
  if ((text.match(/[?*+{]/g)?.length ?? 0) > mostRepetitions)
    throw refused(field, `has more than ${mostRepetitions} repetitions in a row`, 'Make it simpler.');
  for (const [found, least, most] of text.matchAll(/\{\s*(\d*)\s*,\s*(\d+)\s*\}/g)) {
    if (Number(most) < Number(least))
      throw refused(field, `has ${found}, which nothing can follow`, 'Swap the numbers.');
  }
}

/** Not expressions: they may run for ever, and a wrong one ends the process when the answer begins. */
function requireWords(triggers: unknown): void {
  if (!Array.isArray(triggers)) return;
  const [token, word] = [0, 1];
  if (triggers.every((one: { type?: unknown } | null) => one?.type === token || one?.type === word)) return;
  throw refused('grammar_triggers', 'may hold tokens (type 0) and words (type 1) only', 'Name words.');
}

/** of schemas whose values are data */
const data = ['const', 'enum', 'default', 'examples', 'description', 'title'];

function requireSafeSchema(schema: unknown, field: string): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { pattern } = schema as { pattern?: unknown };
  if (typeof pattern === 'string') requireRepetitions(pattern, field);
  for (const what of ['Length', 'Items'] as const) {
    const { [`min${what}`]: least = 0, [`max${what}`]: most } = schema as Record<string, unknown>;
    if (typeof least === 'number' && typeof most === 'number' && most < least)
      throw refused(field, `has a min${what} of ${least} and a max${what} of ${most}`, 'Swap the numbers.');
  }
  for (const [name, value] of Object.entries(schema)) {
    if (data.includes(name)) continue;
    if (/^(exclusive)?(min|max)imum$/i.test(name) && typeof value === 'number' && Math.abs(value) > largestNumber)
      throw refused(field, `has a ${name} beyond ${largestNumber}`, 'Give a number nearer to 0, or none.');
    requireSafeSchema(value, field);
  }
}

// 500 where a value has another type than its reader expects, or there is none.

const aboutRequest =
  /^(?:\[json\.exception\.|vector::|(?:image|audio|video) input is not|(?:Unknown|Unsupported|Only|Cannot use|Cannot specify|Failed to parse|Failed to load|Failed to tokenize) |[^.]* is required$)/;

/**
 * The first part of a response, which says what is wrong with the request where llama-server says that it failed, or says it in words
 * of its own.
 */
export function asRefusal(part: ApiPart): ApiPart {
  if (part.status !== 500 && part.status !== 400) return part;
  const { error } = parsed(part.data);
  if (typeof error?.message !== 'string') return part;
  const message = inWords(error.message);
  if (part.status === 400 ? message === error.message : !aboutRequest.test(error.message)) return part;
  return {
    ...part,
    status: 400,
    data: JSON.stringify({ error: { code: 400, message, type: 'invalid_request_error' } }),
  };
}

function inWords(message: string): string {
  return message
    .replace(/\[json\.exception\.(\w+)\.\d+\] /, 'The request cannot be read ($1): ')
    .replace(/^image input is not .*/s, 'The model in use cannot see images: no projector (mmproj) is loaded with it.')
    .replace(
      /^audio input is not .*/s,
      'The model in use cannot hear: no projector (mmproj) that hears is loaded with it.',
    )
    .replace(/^Failed to load image .*/s, 'An image or sound in the request is damaged.')
    .replace(/^vector::.*/s, 'There is no such token in the vocabulary of this model.');
}

function parsed(text: string): { error?: { message?: unknown } } {
  try {
    return (JSON.parse(text) as { error?: { message?: unknown } } | null) ?? {};
  } catch {
    return {};
  }
}
