/** What the list of models that comes with the app says of each, in the language of the window: the list itself is English. */

import type { MessageDescriptor } from '@lingui/core';
import { msg } from '@lingui/core/macro';
import { i18n } from '../../language';

const known: Readonly<Record<string, MessageDescriptor>> = {
  'Very small: for trying things, and for machines with little memory.': msg`Very small: for trying things, and for machines with little memory.`,
  'Small and quick, can think before it answers.': msg`Small and quick, can think before it answers.`,
  'A good first model for a laptop.': msg`A good first model for a laptop.`,
  'Trained for very long texts, answers at once.': msg`Trained for very long texts, answers at once.`,
  'For 16 GB of memory and more.': msg`For 16 GB of memory and more.`,
  'For 24 GB of memory and more.': msg`For 24 GB of memory and more.`,
  'Large, but only 3 billion of its parameters work at a time: quick for its size.': msg`Large, but only 3 billion of its parameters work at a time: quick for its size.`,
  'Older and well tried.': msg`Older and well tried.`,
  'Well known, trained for 128K tokens.': msg`Well known, trained for 128K tokens.`,
  'Very small, trained for 128K tokens.': msg`Very small, trained for 128K tokens.`,
  'Small, trained for 128K tokens.': msg`Small, trained for 128K tokens.`,
  'Trained for 128K tokens, good at European languages.': msg`Trained for 128K tokens, good at European languages.`,
  'Most layers see a short window only, so its cache is small anyway.': msg`Most layers see a short window only, so its cache is small anyway.`,
  'The larger one, for 16 GB of memory and more.': msg`The larger one, for 16 GB of memory and more.`,
  'Thinks before it answers; for 24 GB of memory and more.': msg`Thinks before it answers; for 24 GB of memory and more.`,
};

/** What a newer list says is shown as it is. */
export function aboutText(about: string): string {
  const text = known[about];
  return text ? i18n._(text) : about;
}
