/** What documents take of the context, and when what was read of a chat is kept on disk. All of it applies at once. */
import { t } from '@lingui/core/macro';
import { limits } from '../../../../electron/contract/limits';
import type { Settings } from '../../../../electron/contract/settings';
import { useActions } from '../../../state/useApp';
import { Field } from '../../../ui/Field';
import { NumberField } from '../../../ui/NumberField';
import { SwitchField } from '../../../ui/Segmented';
import { SearchModelField } from './SearchModelField';

const gibibyte = 1024 ** 3;

export function DocumentsSection({ documents, sessions }: Pick<Settings, 'documents' | 'sessions'>) {
  const { settings } = useActions();
  return (
    <>
      <Field
        label={t`Kept free for the answer`}
        htmlFor="settings-reserve"
        inline
        help={t`In tokens; never more than a quarter of the context.`}
      >
        <NumberField
          id="settings-reserve"
          data-testid="settings-reserve"
          integer
          min={16}
          max={limits.maxContext}
          value={documents.reserve}
          onCommit={(reserve) => reserve !== null && void settings.update({ documents: { reserve } })}
        />
      </Field>
      <Field
        label={t`Best passages`}
        htmlFor="settings-retrievalTokens"
        inline
        help={t`Tokens of the passages that are looked up for one question.`}
      >
        <NumberField
          id="settings-retrievalTokens"
          data-testid="settings-retrievalTokens"
          integer
          min={128}
          max={limits.maxContext}
          value={documents.retrievalTokens}
          onCommit={(retrievalTokens) =>
            retrievalTokens !== null && void settings.update({ documents: { retrievalTokens } })
          }
        />
      </Field>
      <SearchModelField value={documents.searchModel} />
      <SwitchField
        name="sessions"
        label={t`Keep caches of chats`}
        legend={t`Keep caches of chats on disk`}
        on={sessions.enabled}
        onValue={(enabled) => void settings.update({ sessions: { enabled } })}
      />
      <Field
        label={t({ message: 'From', context: 'how long a chat is at least' })}
        htmlFor="settings-minTokens"
        inline
        help={t`Tokens; what is shorter is read again.`}
      >
        <NumberField
          id="settings-minTokens"
          data-testid="settings-minTokens"
          integer
          min={16}
          max={limits.maxContext}
          value={sessions.minTokens}
          onCommit={(minTokens) => minTokens !== null && void settings.update({ sessions: { minTokens } })}
        />
      </Field>
      <Field
        label={t`At most, in GiB`}
        htmlFor="settings-maxBytes"
        inline
        help={t`All of them together; those that were not used for longest go first.`}
      >
        <NumberField
          id="settings-maxBytes"
          data-testid="settings-maxBytes"
          min={0}
          max={1_000_000}
          value={Math.round((sessions.maxBytes / gibibyte) * 100) / 100}
          onCommit={(size) =>
            size !== null && void settings.update({ sessions: { maxBytes: Math.round(size * gibibyte) } })
          }
        />
      </Field>
    </>
  );
}
