/** What each way beyond the trained length is for, in plain words. */
import type { RopeChoice } from '../../../electron/contract/settings';

export const ropeText: Record<RopeChoice, string> = {
  model: 'The context ends where the training of the model ended.',
  yarn: 'The better choice for most models: near words stay as clear as before, far ones are moved together.',
  linear: 'All distances are shortened alike. Only for models that were made for it; others lose near words too.',
};
