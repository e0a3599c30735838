import { t } from '@lingui/core/macro';
import './styles.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { i18n, localized } from '../language';
import { startState } from '../state/connect';
import { AppContext } from '../state/useApp';
import { App } from './App';
import { ErrorBoundary } from './ErrorBoundary';
import { runCommand } from './keyboard';
import { applyStoredLanguage, applyStoredTheme, rememberChat, rememberFolders } from './stored';

applyStoredTheme();

const [app] = await Promise.all([startState(runCommand), applyStoredLanguage()]);
rememberChat(app, sessionStorage);
rememberFolders(app, localStorage);
// what services said before stands in the store
i18n.on('change', () => app.store.setState(localized));
if (new URLSearchParams(location.search).get('meter') === 'off') app.actions.meter.turnOff();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root.');

createRoot(root).render(
  <StrictMode>
    <ErrorBoundary what={t`The window`}>
      <AppContext value={app}>
        <App app={app} />
      </AppContext>
    </ErrorBoundary>
  </StrictMode>,
);
