/** Why a question cannot be sent now. Every reason is shown, none is guessed by the person. */
import type { EngineState } from '../../../electron/contract/engine';
import type { ConnectionPhase, DraftDocument } from '../../state/appState';
import { choosesNothing } from '../../state/lib/attach';

export interface SendBlock {
  reason: string;
  /** what the person can do about it with one click */
  action: 'models' | null;
}

export interface SendFacts {
  connection: ConnectionPhase;
  engine: EngineState | null;
  /** nothing is written */
  empty: boolean;
  sending: boolean;
  documents: readonly Pick<DraftDocument, 'name' | 'info' | 'error' | 'part'>[];
  /** of the prompt as it is now; null: not counted */
  fits: boolean | null;
  /** the name of a document that no passage has room of; null: there is none */
  unfilled: string | null;
}

export function sendBlock(facts: SendFacts): SendBlock | null {
  if (facts.connection !== 'open') return block('Not connected');
  const engine = engineBlock(facts.engine);
  if (engine) return engine;
  if (facts.sending) return block('Sending');
  const documents = documentsBlock(facts.documents);
  if (documents) return documents;
  // the card above says by how much, and what can be done
  if (facts.fits === false && facts.unfilled) return block(`No room is left for passages of ${facts.unfilled}`);
  if (facts.fits === false) return block('This does not fit into the context');
  if (!facts.empty) return null;
  return block(facts.documents.length > 0 ? 'Write a question about the text' : '');
}

/** While a model is on its way the services take the question and answer it afterwards. */
function engineBlock(state: EngineState | null): SendBlock | null {
  switch (state) {
    case 'starting':
    case 'loading':
    case 'restarting':
    case 'ready':
    case 'generating':
      return null;
    case null:
      return block('Concertina is starting. You can type while you wait');
    case 'empty':
      return { reason: 'No model is loaded', action: 'models' };
    case 'failed':
      return { reason: 'The model could not be loaded', action: 'models' };
    case 'unavailable':
      return block('The engine is not available');
  }
}

/** For the line below the field. `waits`: what the engine is at. `leaving`: what leaves the prompt if the question is sent. */
export function statusText(sending: SendBlock | null, waits: string | null, leaving: string | null): string | null {
  if (sending?.reason) return sending.reason;
  if (waits) return waits;
  return sending === null ? leaving : null;
}

/** A question never goes without what was attached to it. */
function documentsBlock(documents: SendFacts['documents']): SendBlock | null {
  const failed = documents.find(({ error }) => error !== null);
  if (failed) return block(`${failed.name} could not be read: remove it, or try again`);
  const nothing = documents.find(({ part }) => choosesNothing(part));
  if (nothing) return block(`Nothing of ${nothing.name} is chosen: choose something, or remove it`);
  const reading = documents.filter(({ info }) => info === null);
  const [first] = reading;
  if (!first) return null;
  return block(
    reading.length === 1 ? `${first.name} is still being read` : `${reading.length} documents are being read`,
  );
}

function block(reason: string): SendBlock {
  return { reason, action: null };
}
