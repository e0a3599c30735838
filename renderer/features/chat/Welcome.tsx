import { BookOpenText, Mail, NotebookPen, Plus, ReceiptText } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  selectEngineState,
  selectHeadless,
  selectLoadedContext,
  selectLoadedModel,
  selectMemory,
} from '../../state/engine/selectors';
import { selectCurrentModel, selectIsEmbedded } from '../../state/models/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Bellows } from '../../ui/Bellows';
import { Button } from '../../ui/Button';
import { formatBytes, formatCount, formatParameters } from '../../ui/format';
import { type Example, examples } from './examples';

const icons: Record<Example['id'], ReactNode> = {
  letter: <Mail />,
  minutes: <NotebookPen />,
  invoice: <ReceiptText />,
  long: <BookOpenText />,
};

/** A chat without messages: what this model is good for, and how to begin. */
export function Welcome() {
  const embedded = useApp(selectIsEmbedded);
  return (
    <section
      className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable_both-edges]"
      aria-label="New chat"
      tabIndex={-1}
    >
      <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col justify-center px-4 py-8 short:py-3 sm:px-6">
        <Bellows pleats={26} className="rise mb-6 h-9 w-44 short:hidden" />
        <h1 className="rise font-serif text-[1.9rem] leading-tight tracking-[-0.012em] text-balance text-ink">
          {embedded ? 'Paste a text. Ask a question.' : 'Unfold something long.'}
        </h1>
        {embedded ? <EmbeddedIntro /> : <ModelIntro />}
        {embedded && (
          <ul className="mt-6 grid gap-2.5 short:mt-4 sm:grid-cols-2" aria-label="Examples">
            {examples.map((example) => (
              <ExampleCard key={example.id} example={example} />
            ))}
          </ul>
        )}
        {embedded && <Invitation />}
      </div>
    </section>
  );
}

function EmbeddedIntro() {
  const parameters = useApp(selectLoadedModel)?.parameters;
  return (
    <p className="mt-2.5 max-w-xl text-base text-pretty text-ink-2">
      You are talking to the small built-in model{parameters ? ` (${formatParameters(parameters)} parameters)` : ''}. It
      finds some facts in letters, minutes and other short texts, overlooks many, and gets some wrong. It cannot reason,
      summarize long texts or tell about the world.
    </p>
  );
}

function ModelIntro() {
  const name = useApp(selectCurrentModel)?.info?.name;
  const context = useApp(selectLoadedContext);
  const memory = useApp(selectMemory);
  const loading = useApp(selectEngineState) === 'loading';
  if (!context || !memory) {
    return (
      <p className="mt-2.5 max-w-xl text-base text-pretty text-ink-2">
        {loading ? `${name ?? 'The model'} is loading. You can paste a long text already.` : 'Choose a model to begin.'}
      </p>
    );
  }
  return (
    <p className="mt-2.5 max-w-xl text-base text-pretty text-ink-2">
      {name ?? 'The model'} holds {formatCount(context.nCtx)} tokens in {formatBytes(memory.kvK + memory.kvV)} of cache.
      At f16 the same context would take {formatBytes(memory.kvF16)}. Paste a long text or drop a file here.
    </p>
  );
}

function ExampleCard({ example }: { example: Example }) {
  const { conversation, documents, ui } = useActions();

  async function use(): Promise<void> {
    const text = typeof example.text === 'function' ? await example.text() : example.text;
    conversation.setDraftText(example.question);
    ui.focusComposer();
    await documents.attachOnly(text, example.name);
  }

  return (
    <li>
      <button
        type="button"
        data-testid="example"
        onClick={() => void use()}
        className="flex h-full w-full items-start gap-3 rounded-xl border border-line bg-raised p-3.5 short:p-2.5 text-left shadow-card transition-colors hover:border-accent/60 hover:bg-accent-soft"
      >
        <span className="mt-0.5 text-accent [&_svg]:size-4.5">{icons[example.id]}</span>
        <span>
          <span className="block font-medium text-ink">{example.title}</span>
          <span className="mt-0.5 block text-ink-3">{example.question}</span>
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
        Add a larger model
      </Button>
      <p>Any GGUF file on this computer.{!headless && ' You can also drop one into the window.'}</p>
    </div>
  );
}
