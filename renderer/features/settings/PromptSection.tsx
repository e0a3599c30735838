/** The system prompt: of the open chat, which keeps the one that it began with, and of chats to come. */
import { useState } from 'react';
import { selectChatId, selectChatPrompt } from '../../state/conversation/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Segmented } from '../../ui/Segmented';
import { PromptField } from './PromptField';

const places = [
  { value: 'chat', label: 'This chat' },
  { value: 'new', label: 'New chats' },
] as const;

export function PromptSection({ systemPrompt }: { systemPrompt: string }) {
  const { settings, conversation } = useActions();
  const chatId = useApp(selectChatId);
  const chatPrompt = useApp(selectChatPrompt);
  const [place, setPlace] = useState<'chat' | 'new'>('chat');
  const ofChat = chatId !== null && chatPrompt !== null && place === 'chat';

  return (
    <div className="grid gap-2">
      {chatPrompt !== null && (
        <Segmented name="prompt-place" label="System prompt of" value={place} options={places} onValue={setPlace} />
      )}
      {ofChat ? (
        <PromptField
          key={chatId}
          prompt={chatPrompt}
          help="This chat keeps the prompt that it began with. After a change it is read again from its start, once."
          onSave={(text) => void conversation.setSystemPrompt(chatId, text)}
        />
      ) : (
        <PromptField
          key="new"
          prompt={systemPrompt}
          help="A chat begins with it, and keeps it."
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
            Use the prompt of new chats here
          </Button>
        </div>
      )}
    </div>
  );
}
