/** The system prompt: of the open chat, which keeps the one that it began with, and of chats to come. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useEffect, useRef, useState } from 'react';
import { limits } from '../../../../electron/contract/limits';
import { selectChatId, selectChatPrompt } from '../../../state/lib/openChat';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { areaClass } from '../../../ui/Field';
import { Segmented } from '../../../ui/Segmented';

export function PromptSection({ systemPrompt }: { systemPrompt: string }) {
  const { settings, conversation } = useActions();
  const chatId = useApp(selectChatId);
  const chatPrompt = useApp(selectChatPrompt);
  const [place, setPlace] = useState<'chat' | 'new'>('chat');
  const ofChat = chatId !== null && chatPrompt !== null && place === 'chat';

  return (
    <div className="grid gap-2">
      {chatPrompt !== null && (
        <Segmented
          name="prompt-place"
          label={t`System prompt of`}
          value={place}
          options={[
            { value: 'chat', label: t`This chat` },
            { value: 'new', label: t`New chats` },
          ]}
          onValue={setPlace}
        />
      )}
      {ofChat ? (
        <PromptField
          key={chatId}
          prompt={chatPrompt}
          help={t`This chat keeps the prompt that it began with. After a change it is read again from its start, once.`}
          onSave={(text) => void conversation.setSystemPrompt(chatId, text)}
        />
      ) : (
        <PromptField
          key="new"
          prompt={systemPrompt}
          help={t`A chat begins with it, and keeps it.`}
          onSave={(text) => void settings.update({ systemPrompt: text })}
        />
      )}
      {ofChat && chatPrompt !== systemPrompt && (
        <div>
          <Button
            size="small"
            data-testid="prompt-take-general"
            onClick={() => void conversation.setSystemPrompt(chatId, systemPrompt)}
          >
            <Trans>Use the prompt of new chats here</Trans>
          </Button>
        </div>
      )}
    </div>
  );
}

const restMs = 600;

interface PromptFieldProps {
  prompt: string;
  help: string;
  onSave: (text: string) => void;
}

/** Saved when the typing rests, and at the latest when the field is left or goes away. */
function PromptField({ prompt, help, onSave }: PromptFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const leave = useRef(() => {});
  useEffect(() => {
    leave.current = () => typed !== null && save(typed);
  });
  useEffect(() => () => leave.current(), []);

  function save(text: string): void {
    clearTimeout(timer.current);
    if (text !== prompt) onSave(text);
  }

  function type(text: string): void {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => save(text), restMs);
  }

  return (
    <div className="grid gap-1.5">
      <textarea
        dir="auto"
        id="settings-system-prompt"
        data-testid="settings-system-prompt"
        aria-label={t`System prompt`}
        aria-describedby="settings-system-prompt-help"
        rows={4}
        maxLength={limits.maxSystemPrompt}
        placeholder={t`Instructions that stand before the chat`}
        value={typed ?? prompt}
        onChange={(event) => type(event.target.value)}
        onBlur={() => {
          if (typed !== null) save(typed);
          setTyped(null);
        }}
        className={areaClass}
      />
      <p id="settings-system-prompt-help" className="text-xs leading-relaxed text-ink-3">
        {help}
      </p>
    </div>
  );
}
