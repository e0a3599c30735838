/** Title of a chat that a person did not name: the start of its first message. */
const maxLength = 60;

export function titleFrom(text: string): string | null {
  const line = text.split('\n').find((one) => one.trim() !== '');
  const words = line?.slice(0, 500).replace(/\s+/g, ' ').trim();
  if (!words) return null;
  const characters = [...words];
  if (characters.length <= maxLength) return words;
  const cut = characters.slice(0, maxLength).join('');
  const space = cut.lastIndexOf(' ');
  return `${cut.slice(0, space > maxLength / 2 ? space : undefined).trimEnd()}…`;
}
