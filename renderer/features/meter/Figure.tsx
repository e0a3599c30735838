import type { ReactNode } from 'react';

interface FigureProps {
  testId: string;
  title: string;
  /** exact values, as data attributes */
  data?: Record<string, number | string>;
  children: ReactNode;
}

export function Figure({ testId, title, data = {}, children }: FigureProps) {
  const attributes = Object.fromEntries(Object.entries(data).map(([name, value]) => [`data-${name}`, value]));
  return (
    <p
      data-testid={testId}
      title={title}
      {...attributes}
      className="flex items-center gap-1 px-2 whitespace-nowrap [&_b]:font-medium [&_b]:text-ink"
    >
      {children}
    </p>
  );
}
