/** Before a link of an answer is opened: where it leads and what goes with it. Its words may say something else. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useRef } from 'react';
import { selectLink } from '../../../state/slices/ui';
import { useActions, useApp } from '../../../state/useApp';
import { Button, CopyButton } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';

export function LinkQuestion() {
  const link = useApp(selectLink);
  const { ui } = useActions();
  // what it said stays while it closes
  const shown = useRef('');
  if (link !== null) shown.current = link;
  return (
    <Dialog
      title={t`Open this link?`}
      description={t`The model, or a text that it was given, wrote this address. It opens in your browser.`}
      open={link !== null}
      onOpenChange={(open) => open || void ui.answerLink(false)}
      className="w-[min(30rem,calc(100%-2rem))]"
      testId="link-question"
    >
      {shown.current !== '' && <Address url={new URL(shown.current)} />}
      <div className="flex flex-wrap items-center gap-2 border-t border-line px-5 py-3.5">
        <CopyButton text={shown.current} label={t`Copy the address`} />
        <span className="flex-1" />
        <Button data-first-focus onClick={() => void ui.answerLink(false)}>{t`Cancel`}</Button>
        <Button tone="primary" data-testid="link-open" onClick={() => void ui.answerLink(true)}>{t`Open`}</Button>
      </div>
    </Dialog>
  );
}

/** The host as the network has it, so that letters of other scripts do not pass for Latin ones. */
function Address({ url }: { url: URL }) {
  const query = [...url.searchParams];
  const sent = url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '';
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to reach what scrolls
      tabIndex={0}
      className="min-h-0 space-y-3 overflow-y-auto px-5 py-4"
    >
      <dl dir="ltr" className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 wrap-anywhere">
        <dt className="text-ink-3">
          <Trans>Host</Trans>
        </dt>
        <dd className="font-mono font-medium text-ink" data-testid="link-host">
          {url.host}
        </dd>
        {url.pathname !== '/' && (
          <>
            <dt className="text-ink-3">
              <Trans>Page</Trans>
            </dt>
            <dd className="font-mono text-ink-2">{url.pathname}</dd>
          </>
        )}
        {sent && (
          <>
            <dt className="text-ink-3">
              <Trans>Sent along</Trans>
            </dt>
            <dd className="space-y-0.5 font-mono text-ink-2" data-testid="link-query">
              {(url.username !== '' || url.password !== '') && <p>{`${url.username}:${url.password}`}</p>}
              {query.map(([name, value], index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a name may stand there twice, and the list never changes
                <p key={index}>{value === '' ? name : `${name} = ${value}`}</p>
              ))}
              {url.hash !== '' && <p>{url.hash}</p>}
            </dd>
          </>
        )}
      </dl>
      {sent && (
        <p className="text-ink-2">
          <Trans>
            What is sent along reaches this host. Open the link only if nothing of your chat or documents is in it.
          </Trans>
        </p>
      )}
      <p className="text-xs text-ink-3">
        <Trans>You are asked once for each host, until Concertina is closed.</Trans>
      </p>
    </div>
  );
}
