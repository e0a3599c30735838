/** Whose work is in the app, and under which licenses. */
import { selectThirdPartyOpen } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Dialog } from '../../ui/Dialog';
import { LoadedText } from './LoadedText';

export function ThirdPartyDialog() {
  const open = useApp(selectThirdPartyOpen);
  const { engine, ui } = useActions();
  return (
    <Dialog
      title="Third-party notices"
      description="The software, fonts and data of others in this app, with their licenses."
      open={open}
      onOpenChange={ui.setThirdParty}
      className="max-w-[46rem]"
      testId="third-party"
    >
      <LoadedText
        load={engine.thirdPartyNotices}
        waiting="Loading…"
        failed="The notices could not be read. Close this window for the reason."
        testId="third-party-text"
      />
    </Dialog>
  );
}
