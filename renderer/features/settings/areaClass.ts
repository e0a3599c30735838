export const areaClass =
  'block w-full resize-y rounded-md border border-line-strong bg-field px-2.5 py-1.5 text-sm text-ink transition-colors hover:border-ink-3/60';
