import type { ModelEntry } from '../../../electron/contract/models';

/** The name that the file gives itself, or its file name. */
export function modelName(model: ModelEntry): string {
  return model.info?.name || model.fileName.replace(/\.gguf$/i, '');
}
