import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { BookOpenText, Mail, NotebookPen, Plus, ReceiptText } from 'lucide-react';
import type { ReactNode } from 'react';
import { i18n } from '../../../language';
import { selectDraftOfOpenChat } from '../../../state/lib/openChat';
import {
  selectEngineState,
  selectHeadless,
  selectLoadedContext,
  selectLoadedModel,
  selectMemory,
} from '../../../state/slices/engine';
import { selectCurrentModel, selectHasOwnModel, selectIsEmbedded } from '../../../state/slices/models';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { formatBytes, formatCount, formatParameters } from '../../../ui/format';
import { Bellows } from '../../../ui/pictures/Bellows';

/**
 * What the built-in model does well: a direct question about a letter, minutes or an invoice of one or two pages.
 * test/e2e/electron/built-in.spec.ts asks each of them in the window.
 */
interface Example {
  id: 'letter' | 'minutes' | 'invoice' | 'long';
  title: MessageDescriptor;
  /** about an English text, which the built-in model reads; so it is asked in English */
  question: string;
  /** of the attached text, as people see it */
  name: string;
  text: (texts: typeof import('./exampleTexts')) => string;
}

const examples: readonly Example[] = [
  {
    id: 'letter',
    title: msg`A letter`,
    question: 'Why could they not come to the wedding?',
    name: 'letter.txt',
    text: (texts) => texts.letter,
  },
  {
    id: 'minutes',
    title: msg`Minutes of a meeting`,
    question: 'When is the next meeting?',
    name: 'minutes.txt',
    text: (texts) => texts.minutes,
  },
  {
    id: 'invoice',
    title: msg`An invoice`,
    question: 'What is the total due?',
    name: 'invoice.txt',
    text: (texts) => texts.invoice,
  },
  {
    id: 'long',
    title: msg`Five pages, read before your eyes`,
    question: 'What is the special magic number for harbour?',
    name: 'five-pages.txt',
    text: (texts) => texts.long,
  },
];

const icons: Record<Example['id'], ReactNode> = {
  letter: <Mail />,
  minutes: <NotebookPen />,
  invoice: <ReceiptText />,
  long: <BookOpenText />,
};

/** A chat without messages: what this model is good for, and how to begin. `firstModel`: the way to a first model of one's own. */
export function Welcome({ firstModel }: { firstModel: ReactNode }) {
  const embedded = useApp(selectIsEmbedded);
  const own = useApp(selectHasOwnModel);
  const attached = useApp(selectDraftOfOpenChat).documents.length > 0;
  return (
    <section
      className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable_both-edges]"
      aria-label={t`New chat`}
      tabIndex={-1}
    >
      <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col justify-center px-4 py-8 short:py-3 sm:px-6">
        <Bellows pleats={26} className="rise mb-6 h-9 w-44 short:hidden" />
        <h1 className="rise font-serif text-[1.9rem] short:text-2xl leading-tight tracking-[-0.012em] text-balance text-ink">
          {embedded ? t`Paste a text. Ask a question.` : t`Unfold something long.`}
        </h1>
        {firstModel}
        {embedded ? <EmbeddedIntro /> : <ModelIntro />}
        {/* they would replace what is attached, and the composer needs the room */}
        {embedded && !attached && (
          <ul className="mt-6 grid gap-2.5 short:mt-4 sm:grid-cols-2" aria-label={t`Examples`}>
            {examples.map((example) => (
              <ExampleCard key={example.id} example={example} />
            ))}
          </ul>
        )}
        {embedded && own && <Invitation />}
      </div>
    </section>
  );
}

function EmbeddedIntro() {
  const parameters = useApp(selectLoadedModel)?.parameters;
  const own = useApp(selectHasOwnModel);
  return (
    <p className="mt-2.5 max-w-xl short:max-w-none text-base short:text-sm text-pretty text-ink-2">
      {introText(own, parameters)}{' '}
      <Trans>
        It finds some facts in letters, minutes and other short texts, overlooks many, and gets some wrong. It cannot
        reason, summarize long texts or tell about the world.
      </Trans>
    </p>
  );
}

function introText(own: boolean, parameters: number | undefined): string {
  if (!parameters) {
    return own ? t`You are talking to the small built-in model.` : t`Or begin at once with the small built-in model.`;
  }
  const size = formatParameters(parameters);
  return own
    ? t`You are talking to the small built-in model (${size} parameters).`
    : t`Or begin at once with the small built-in model (${size} parameters).`;
}

function ModelIntro() {
  const known = useApp(selectCurrentModel)?.info?.name ?? t`The model`;
  const context = useApp(selectLoadedContext);
  const memory = useApp(selectMemory);
  const loading = useApp(selectEngineState) === 'loading';
  if (!context || !memory) {
    return (
      <p className="mt-2.5 max-w-xl text-base text-pretty text-ink-2">
        {loading ? t`${known} is loading. You can paste a long text already.` : t`Choose a model to begin.`}
      </p>
    );
  }
  return (
    <p className="mt-2.5 max-w-xl text-base text-pretty text-ink-2">
      <Trans>
        {known} holds {formatCount(context.nCtx)} tokens in {formatBytes(memory.kvK + memory.kvV)} of cache. At f16 the
        same context would take {formatBytes(memory.kvF16)}. Paste a long text or drop a file here.
      </Trans>
    </p>
  );
}

function ExampleCard({ example }: { example: Example }) {
  const { conversation, documents, ui } = useActions();

  async function use(): Promise<void> {
    conversation.setDraftText(example.question);
    ui.focusComposer();
    await documents.attachOnly(example.text(await import('./exampleTexts')), example.name);
  }

  return (
    <li>
      <button
        type="button"
        data-testid="example"
        onClick={() => void use()}
        className="flex h-full w-full items-start gap-3 rounded-xl border border-line bg-raised p-3.5 short:p-2.5 text-start shadow-card transition-colors hover:border-accent/60 hover:bg-accent-soft"
      >
        <span className="mt-0.5 text-accent [&_svg]:size-4.5">{icons[example.id]}</span>
        <span>
          <span className="block font-medium text-ink">{i18n._(example.title)}</span>
          <span className="mt-0.5 block text-ink-3 short:text-xs">{example.question}</span>
        </span>
      </button>
    </li>
  );
}

/** Browsers do not expose the path of a dropped file. */
function Invitation() {
  const headless = useApp(selectHeadless);
  const { ui } = useActions();
  return (
    <div className="mt-5 flex flex-wrap items-center gap-x-4 gap-y-2 short:mt-3 text-sm text-ink-3">
      <Button onClick={() => ui.setPicker(true)} data-testid="welcome-add-model">
        <Plus className="size-4" aria-hidden="true" />
        <Trans>Choose a larger model</Trans>
      </Button>
      <p>
        {headless
          ? t`Any GGUF file on this computer.`
          : t`Any GGUF file on this computer. You can also drop one into the window.`}
      </p>
    </div>
  );
}
