/**
 * `concertina run` and `concertina chat`: questions in the terminal, through the same chats, documents and prompts as the
 * window's. The answer goes to stdout, everything else to stderr.
 */
import { createInterface } from 'node:readline';
import { addAbortSignal } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { ConcertinaError } from '../contract/errors';
import type { Attachment } from '../contract/lib/attachments';
import { lockFolder } from '../services/lib/folderLock';
import {
  type CommandSpec,
  contextOptions,
  dataFolderOf,
  dataOption,
  exitCodes,
  inOneLine,
  jsonOption,
  parseLine,
  samplingOptions,
  settingsOf,
  UsageError,
} from './commandLine';
import type { Command, Surroundings } from './commandServices';
import { type Asked, Conversation, reportEnd } from './conversation';

const askOptions = {
  doc: { type: 'string', value: 'FILE', multiple: true, about: 'a document to ask about: PDF, Word, HTML, text, code' },
  model: {
    type: 'string',
    value: 'MODEL',
    about: 'file, or a model of `models list` (the one used last, or the built-in one)',
  },
  ...contextOptions,
  ...samplingOptions,
} as const;

const runSpec = {
  name: 'run',
  takes: '[PROMPT | -]',
  about: 'answers one question and ends',
  details: `The answer goes to stdout as it is written; progress and figures go to stderr. Without a PROMPT, or with -, it is read
from stdin. Options count for this answer alone; what is not named is as in the settings. Ctrl-C stops the answer.`,
  options: { ...askOptions, ...jsonOption, ...dataOption },
  examples: [
    ['run "Why is the sky blue?"', 'asks the model that was used last'],
    ['run "What was agreed on the harbor?" --doc report.pdf --context 32768', 'asks about a document'],
    ['run - < question.txt > answer.txt', 'reads the question from a file'],
    ['run "Summarize this." --doc notes.md --type-k turbo3 --type-v turbo3 --json', 'the answer with all its figures'],
  ],
} as const satisfies CommandSpec;

const chatSpec = {
  name: 'chat',
  takes: '',
  about: 'talks with a model in the terminal',
  details: `Documents belong to the first question. The chat is kept: \`concertina serve\` shows it too. Options count for this chat
alone; what is not named is as in the settings. Ctrl-C stops an answer, Ctrl-D ends the chat.`,
  options: { ...askOptions, ...dataOption },
  examples: [
    ['chat', 'with the model that was used last'],
    ['chat --doc contract.pdf --context 65536 --type-k turbo3 --type-v turbo3', 'about a long document'],
  ],
} as const satisfies CommandSpec;

export const askCommands: Command[] = [
  { ...chatSpec, run: (args, around) => chat(parseChat(args), around) },
  { ...runSpec, run: (args, around) => answerOnce(parseRun(args), around) },
];

interface ChatOrder extends Asked {
  dataFolder: string;
}

interface RunOrder extends ChatOrder {
  /** null: on stdin */
  prompt: string | null;
  json: boolean;
}

/** Throws `UsageError` when the line makes no sense. */
export function parseRun(args: readonly string[]): RunOrder {
  const { values, positionals } = parseLine(runSpec, args);
  const [prompt = '-', ...more] = positionals;
  if (more.length > 0) throw new UsageError('run takes one prompt. Put quotation marks around it.');
  if (prompt.trim() === '') throw new UsageError('The prompt is empty.');
  return { ...orderOf(values), prompt: prompt === '-' ? null : prompt, json: values.json ?? false };
}

/** Throws `UsageError` when the line makes no sense. */
export function parseChat(args: readonly string[]): ChatOrder {
  const { values, positionals } = parseLine(chatSpec, args);
  if (positionals.length > 0) {
    throw new UsageError(
      `chat takes options only, and not ${positionals[0]}. For one question there is concertina run.`,
    );
  }
  return orderOf(values);
}

function orderOf(values: ReturnType<typeof parseLine<typeof chatSpec.options>>['values']): ChatOrder {
  return {
    model: values.model ?? null,
    documents: values.doc ?? [],
    settings: settingsOf(values),
    dataFolder: dataFolderOf(values),
  };
}

/** A chat that is kept nowhere, with one question. */
async function answerOnce(order: RunOrder, around: Surroundings): Promise<number> {
  if (order.prompt === null && process.stdin.isTTY) {
    throw new UsageError('Give a prompt, or pipe one in. `concertina chat` talks in the terminal.');
  }
  const prompt = order.prompt ?? (await stdinText(around.signal));
  if (prompt.trim() === '') throw new UsageError('The prompt on stdin is empty.');
  return withConversation(order, around, async (conversation, attachments) => {
    const { status, signal } = around;
    const write = order.json ? () => undefined : (text: string) => void process.stdout.write(text);
    try {
      const message = await conversation.ask(prompt, attachments, write, signal);
      if (order.json) around.print(JSON.stringify(conversation.answerOf(message), null, 2));
      return reportEnd(message, status);
    } finally {
      await conversation.forget();
    }
  });
}

async function stdinText(signal: AbortSignal): Promise<string> {
  try {
    return await textOf(addAbortSignal(signal, process.stdin));
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new ConcertinaError('cancelled', 'Nothing was asked.');
  }
}

const chatHelp = `/doc FILE  attaches a document to the next question
/new       begins a new chat
/exit      ends, as Ctrl-D does
Ctrl-C     stops an answer`;

/** Lines of stdin are questions, on a terminal and in a pipe. */
async function chat(order: ChatOrder, around: Surroundings): Promise<number> {
  return withConversation(order, around, async (conversation, firstAttachments) => {
    const { status, signal } = around;
    let attachments = firstAttachments;
    const terminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
    if (terminal) around.print(`${conversation.title()}. /help shows what you can do, Ctrl-D ends the chat.`);
    const lines = createInterface({
      input: process.stdin,
      output: process.stdout,
      terminal,
      prompt: terminal ? '> ' : '',
    });
    let answering: AbortController | null = null;
    const interrupt = () => (answering ? answering.abort() : lines.close());
    // a terminal in raw mode sends no signal
    lines.on('SIGINT', interrupt);
    signal.addEventListener('abort', () => {
      interrupt();
      lines.close();
    });

    async function handle(line: string): Promise<void> {
      const [command = '', ...words] = line.split(/\s+/);
      if (command === '/help') return around.print(chatHelp);
      if (command === '/new') {
        attachments = [];
        return conversation.begin();
      }
      answering = new AbortController();
      try {
        if (command === '/doc') {
          const file = words.join(' ');
          if (file === '') return around.print('Name a file: /doc report.pdf');
          attachments = [...attachments, ...(await conversation.attach([file], answering.signal))];
          return around.print(`The next question is about ${attachments.map(({ name }) => name).join(' and ')}.`);
        }
        if (/^\/\w+$/.test(command)) return around.print(`There is no ${command}.\n${chatHelp}`);
        const asked = attachments;
        attachments = [];
        const message = await conversation.ask(
          line,
          asked,
          (text) => void process.stdout.write(text),
          answering.signal,
        );
        reportEnd(message, status);
      } catch (error) {
        if (!(error instanceof ConcertinaError)) throw error;
        status.line(inOneLine(error));
      } finally {
        answering = null;
      }
    }

    lines.prompt();
    for await (const line of lines) {
      const trimmed = line.trim();
      if (trimmed === '/exit' || signal.aborted) break;
      if (trimmed !== '') await handle(trimmed);
      lines.prompt();
    }
    lines.close();
    if (terminal) process.stdout.write('\n');
    return signal.aborted ? exitCodes.canceled : exitCodes.done;
  });
}

async function withConversation(
  order: ChatOrder,
  { openServices, status, signal }: Surroundings,
  body: (conversation: Conversation, attachments: Attachment[]) => Promise<number>,
): Promise<number> {
  await lockFolder(order.dataFolder);
  const services = await openServices(order.dataFolder);
  try {
    const conversation = new Conversation(services, status);
    return await body(conversation, await conversation.open(order, signal));
  } finally {
    status.clear();
    await services.close();
  }
}
