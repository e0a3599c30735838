/** A short written chat with what answers can hold, for pictures. */
import { type WrittenChat, writeChat } from './longChat';

const formulas = [
  'For a circle of radius $r$ the area is $A = \\pi r^2$ and the way round it \\(U = 2\\pi r\\). A plate of that size costs $5 to $10.',
  '\\[\n\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2} \\qquad \\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}\n\\]',
  '| Shape | Area | Way round |\n| --- | --- | --- |\n| Circle | $\\pi r^2$ | $2\\pi r$ |\n| Square | $a^2$ | $4a$ |',
  '```python\nimport math\n\ndef area(radius: float) -> float:\n    return math.pi * radius**2  # price "$5"\n```',
].join('\n\n');

export function writeSampleChat(dataDir: string): Promise<WrittenChat> {
  return writeChat(dataDir, 'Circles', [
    { id: 'q1', parentId: null, text: 'How does the area of a circle grow?' },
    {
      ...{ id: 'a1', parentId: 'q1' },
      text: 'The area grows with the radius. A circle of twice the radius is twice as large.\n\nSo a plate that is a little larger holds a little more.',
    },
    {
      ...{ id: 'a2', parentId: 'q1', thinking: 'Area is pi times the square of the radius.' },
      text: 'The area grows with the square of the radius. A circle of twice the radius is four times as large.\n\nSo a plate that is a little larger holds much more.',
    },
    { id: 'q2', parentId: 'a2', text: 'Write it as formulas, please.' },
    { id: 'a3', parentId: 'q2', text: formulas },
  ]);
}
