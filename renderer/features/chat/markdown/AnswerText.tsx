import { lazy, memo, Suspense } from 'react';
import type { CitedDocument } from './citations';

const none: readonly CitedDocument[] = [];

const Markdown = lazy(() => import('./Markdown'));

/** Loads the markdown renderer before the first answer needs it, and after the first paint. */
export function preloadMarkdown(): void {
  void import('./Markdown');
}

interface AnswerTextProps {
  text: string;
  /** whose pages its words may name */
  documents?: readonly CitedDocument[];
  streaming?: boolean;
}

/** Plain text until the renderer is there, so that nothing waits for it. */
export const AnswerText = memo(function AnswerText({ text, documents = none, streaming = false }: AnswerTextProps) {
  if (text === '') return null;
  return (
    <Suspense
      fallback={
        <p dir="auto" className="prose-c lines-auto whitespace-pre-wrap">
          {text}
        </p>
      }
    >
      <Markdown text={text} documents={documents} streaming={streaming} />
    </Suspense>
  );
});
