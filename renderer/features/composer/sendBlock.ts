/** Why a question cannot be sent now. Every reason is shown, none is guessed by the person. */
import { plural, t } from '@lingui/core/macro';
import type { EngineState } from '../../../electron/contract/engine';
import type { ConnectionPhase, DraftDocument } from '../../state/appState';
import { choosesNothing } from '../../state/lib/attach';
import { questionHint } from '../../state/lib/media';

export interface SendBlock {
  reason: string;
  /** what the person can do about it with one click */
  action: 'models' | null;
}

export interface SendFacts {
  connection: ConnectionPhase;
  engine: EngineState | null;
  /** its model's memory was freed: a question brings it back */
  resting: boolean;
  /** nothing is written */
  empty: boolean;
  sending: boolean;
  documents: readonly Pick<DraftDocument, 'name' | 'info' | 'error' | 'part'>[];
  /** the name of a document that waits for its password; null: none does */
  locked: string | null;
  /** why the model cannot read an image or sound of the chat or of the draft; null: it can */
  beyond: string | null;
  /** of the prompt as it is now; null: not counted */
  fits: boolean | null;
  /** the name of a document that no passage has room of; null: there is none */
  unfilled: string | null;
}

function writeAbout(documents: Parameters<typeof questionHint>[0]): string {
  const hint = {
    text: t`Write a question about the text`,
    image: t`Write a question about the image`,
    sound: t`Write a question about the sound`,
  };
  return hint[questionHint(documents)];
}

export function sendBlock(facts: SendFacts): SendBlock | null {
  if (facts.connection !== 'open') return block(t`Not connected`);
  const engine = engineBlock(facts.engine, facts.resting);
  if (engine) return engine;
  if (facts.sending) return block(t`Sending`);
  const documents = documentsBlock(facts);
  if (documents) return documents;
  if (facts.beyond) return { reason: facts.beyond, action: 'models' };
  // the card above says by how much, and what can be done
  if (facts.fits === false && facts.unfilled) return block(t`No room is left for passages of ${facts.unfilled}`);
  if (facts.fits === false) return block(t`This does not fit into the context`);
  if (!facts.empty) return null;
  return block(facts.documents.length > 0 ? writeAbout(facts.documents) : '');
}

/** While a model is on its way the services take the question and answer it afterwards. */
function engineBlock(state: EngineState | null, resting: boolean): SendBlock | null {
  switch (state) {
    case 'starting':
    case 'loading':
    case 'restarting':
    case 'ready':
    case 'generating':
      return null;
    case null:
      return block(t`Concertina is starting. You can type while you wait`);
    case 'empty':
      return resting ? null : { reason: t`No model is loaded`, action: 'models' };
    case 'failed':
      return { reason: t`The model could not be loaded`, action: 'models' };
    case 'unavailable':
      return block(t`The engine is not available`);
  }
}

/** A question never goes without what was attached to it. */
function documentsBlock({ documents, locked }: Pick<SendFacts, 'documents' | 'locked'>): SendBlock | null {
  const failed = documents.find(({ error }) => error !== null);
  if (failed) return block(t`${failed.name} could not be read: remove it, or try again`);
  const nothing = documents.find(({ part }) => choosesNothing(part));
  if (nothing) return block(t`Nothing of ${nothing.name} is chosen: choose something, or remove it`);
  if (locked !== null) return block(t`${locked} needs its password: type it above, or remove the document`);
  const reading = documents.filter(({ info }) => info === null);
  const [first] = reading;
  if (!first) return null;
  return block(
    plural(reading.length, { one: `${first.name} is still being read`, other: '# documents are being read' }),
  );
}

function block(reason: string): SendBlock {
  return { reason, action: null };
}
