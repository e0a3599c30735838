import { type RefObject, useLayoutEffect } from 'react';

/** Above this, measuring the text costs more than it tells: the field has its full height anyway. */
const measured = 20_000;

/** Lets a text field grow with its text; its CSS says up to where. */
export function useAutoHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = text.length > measured ? '100vh' : `${element.scrollHeight}px`;
  }, [field, text]);
}
