/** The label of a session in words: what it was made with, and why it cannot be used with something else. */

export function parseLabel(label: string): Map<string, string> {
  const lines = label.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]));
}

/** in the order in which a person can do something about it */
const reasons: [name: string, sentence: (saved: string, here: string) => string][] = [
  ['model', () => 'It was made with another model.'],
  ['K', (saved, here) => `It was made with K in ${saved}; K is in ${here} now.`],
  ['V', (saved, here) => `It was made with V in ${saved}; V is in ${here} now.`],
  ['RoPE', () => 'It was made with other positions (RoPE, or another stretched length).'],
  ['flash', () => 'It was made with flash attention switched the other way.'],
  ['centred', () => 'Its cache was centred with other measurements of the model, as for another length of context.'],
];

/** null: they agree */
export function differenceOf(saved: string, here: string): string | null {
  if (saved === here) return null;
  const [left, right] = [parseLabel(saved), parseLabel(here)];
  for (const [name, sentence] of reasons) {
    if (left.get(name) !== right.get(name)) return sentence(left.get(name) ?? '?', right.get(name) ?? '?');
  }
  return 'It was made by another version of the app.';
}
