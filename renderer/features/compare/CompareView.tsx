/** Cache types and models side by side, in place of the chat: the form with the list, or one run. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { LoaderCircle, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { selectCompareProblem, selectForm, selectOpeningRun, selectRun } from '../../state/slices/compare';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { IconButton } from '../../ui/Button';
import { RunView } from './RunView';
import { SetUp } from './SetUp';

export function CompareView() {
  const form = useApp(selectForm);
  const run = useApp(selectRun);
  const opening = useApp(selectOpeningRun);
  const problem = useApp(selectCompareProblem);
  const { compare } = useActions();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);

  return (
    <section aria-labelledby="compare-title" data-testid="compare-view" className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-2 px-5 pb-2">
        <h1
          id="compare-title"
          ref={heading}
          tabIndex={-1}
          className="flex-1 font-serif text-[1.3rem] tracking-[-0.01em] text-ink outline-none"
        >
          <Trans>Compare cache types or models</Trans>
        </h1>
        <IconButton
          label={t`Back to the chat`}
          side="left"
          icon={<X />}
          onClick={compare.close}
          data-testid="compare-close"
        />
      </div>
      {problem && (
        <Banner
          tone="bad"
          title={problem.message}
          onClose={compare.closeProblem}
          className="mx-5 mb-3"
          testId="compare-problem"
        >
          {problem.hint}
        </Banner>
      )}
      {opening !== null && (
        <p role="status" className="flex items-center gap-2 px-5 pb-2 text-sm text-ink-2">
          <LoaderCircle className="size-4 animate-spin" aria-hidden="true" />
          <Trans>Opening the comparison</Trans>
        </p>
      )}
      {run && <RunView key={run.id} run={run} />}
      {!run && form && <SetUp form={form} />}
    </section>
  );
}
