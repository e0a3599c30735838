import './styles.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startState } from '../state/connect';
import { AppContext } from '../state/useApp';
import { App } from './App';
import { ErrorBoundary } from './ErrorBoundary';
import { runCommand } from './keyboard';
import { applyStoredTheme, rememberChat, rememberFolders } from './stored';

applyStoredTheme();

const app = await startState(runCommand);
rememberChat(app, sessionStorage);
rememberFolders(app, localStorage);
if (new URLSearchParams(location.search).get('meter') === 'off') app.actions.meter.turnOff();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root.');

createRoot(root).render(
  <StrictMode>
    <ErrorBoundary what="The window">
      <AppContext value={app}>
        <App app={app} />
      </AppContext>
    </ErrorBoundary>
  </StrictMode>,
);
