import { Trans } from '@lingui/react/macro';
import { Component, type ErrorInfo, type ReactNode } from 'react';
import { Button } from '../ui/Button';

interface Props {
  /** what stopped, as the subject of a sentence */
  what: string;
  children: ReactNode;
}

interface State {
  error: Error | null;
}

/** A mistake of ours in one part never takes the window: that part says so, and can be tried again. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error(`${this.props.what} stopped.`, error, info.componentStack);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div role="alert" className="flex h-full flex-1 flex-col items-start justify-center gap-3 overflow-auto p-8">
        <h2 className="font-serif text-xl text-ink">
          <Trans>{this.props.what} stopped because of a mistake in Concertina.</Trans>
        </h2>
        <p className="max-w-prose text-ink-2">
          <Trans>Your chats are safe: they are saved as they grow. Try again, or reload the window.</Trans>
        </p>
        <pre className="max-h-40 max-w-full overflow-auto rounded-md bg-sunken p-3 font-mono text-xs text-ink-2">
          {error.message}
        </pre>
        <div className="flex gap-2">
          <Button tone="primary" onClick={() => this.setState({ error: null })}>
            <Trans>Try again</Trans>
          </Button>
          <Button onClick={() => location.reload()}>
            <Trans>Reload the window</Trans>
          </Button>
        </div>
      </div>
    );
  }
}
