import { Lock } from 'lucide-react';
import type { HubModelPage } from '../../../../electron/contract/hub';
import { selectHubAccount } from '../../../state/hub/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';

/** What a person has to do before a gated model can be downloaded. */
export function Gated({ page }: { page: HubModelPage }) {
  const account = useApp(selectHubAccount);
  const { ui } = useActions();
  const hasToken = account !== null && account.token !== 'none';
  const agree =
    page.gated === 'auto'
      ? 'Its authors give it to people who agree to its terms.'
      : 'Its authors decide who gets it, and some take days to answer.';
  return (
    <Banner
      tone="info"
      icon={<Lock className="text-warn" />}
      testId="hub-gated"
      className="mt-4"
      title={agree}
      actions={
        <>
          {page.url.startsWith('https://') && (
            <Button size="small" onClick={() => void ui.openExternal(page.url)}>
              Ask on its page
            </Button>
          )}
          {!hasToken && account?.canSave && (
            <Button
              size="small"
              onClick={() => {
                ui.showModels(null);
                ui.setSettings(true);
              }}
            >
              Save a token
            </Button>
          )}
        </>
      }
    >
      {hasToken
        ? 'Your access token is sent along. If the download is refused, ask on its page with the account of that token.'
        : 'Ask on its page, then give the access token of that account: in the settings, or as HF_TOKEN in the environment.'}
    </Banner>
  );
}
