import { lazy, memo, Suspense } from 'react';

const Markdown = lazy(() => import('./Markdown'));

/** Loads the markdown renderer before the first answer needs it, and after the first paint. */
export function preloadMarkdown(): void {
  void import('./Markdown');
}

interface AnswerTextProps {
  text: string;
  streaming?: boolean;
}

/** Plain text until the renderer is there, so that nothing waits for it. */
export const AnswerText = memo(function AnswerText({ text, streaming = false }: AnswerTextProps) {
  if (text === '') return null;
  return (
    <Suspense fallback={<p className="prose-c whitespace-pre-wrap">{text}</p>}>
      <Markdown text={text} streaming={streaming} />
    </Suspense>
  );
});
