import { useActions } from '../../state/useApp';

/** Loads a model and brings the person to the composer. A load that fails shows above the chat. */
export function useChatWith(): (modelId: string) => void {
  const { models, ui } = useActions();
  return (modelId) => {
    ui.showModels(null);
    void models.select(modelId);
    ui.focusComposer();
  };
}
