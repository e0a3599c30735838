import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

interface TabsProps<T extends string> {
  label: string;
  value: T;
  onValue: (value: T) => void;
  tabs: readonly { value: T; label: ReactNode; content: ReactNode; testId?: string }[];
}

/** Parts of a view of which one is shown; arrow keys go from one to the next. */
export function Tabs<T extends string>({ label, value, onValue, tabs }: TabsProps<T>) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onValue(next as T)} className="flex min-h-0 flex-1 flex-col">
      <Radix.List aria-label={label} className="flex shrink-0 gap-1 border-b border-line px-4">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            data-testid={tab.testId}
            className="-mb-px flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-sm font-medium text-ink-3 transition-colors hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.value}
          value={tab.value}
          className="flex min-h-0 flex-1 flex-col focus-visible:-outline-offset-2"
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
