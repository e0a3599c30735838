import { Paperclip } from 'lucide-react';
import { useRef } from 'react';
import { selectHeadless } from '../../state/engine/selectors';
import { useActions, useApp } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';

/** The native dialog where there is one: it names files without reading them. A browser sends what is chosen. */
export function AttachButton() {
  const headless = useApp(selectHeadless);
  const { documents, ui } = useActions();
  const input = useRef<HTMLInputElement>(null);

  async function choose(): Promise<void> {
    if (headless) input.current?.click();
    else await documents.attachFromDialog();
    ui.focusComposer();
  }

  return (
    <>
      <IconButton
        label="Attach documents"
        icon={<Paperclip />}
        onClick={() => void choose()}
        data-testid="attach"
        className="-ml-2"
      />
      {headless && (
        <input
          ref={input}
          type="file"
          multiple
          hidden
          data-testid="attach-input"
          onChange={(event) => {
            void documents.attachFiles([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
      )}
    </>
  );
}
