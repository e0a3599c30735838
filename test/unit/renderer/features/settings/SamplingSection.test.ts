import { describe, expect, it } from 'vitest';
import { parseStops, printStops } from '@/renderer/features/settings/SamplingSection';

describe('stop strings', () => {
  it('come back as they were', () => {
    const stop = ['END', '\n\nUser:', 'a\\nb', '\t'];
    expect(parseStops(printStops(stop))).toEqual(stop);
  });

  it('drop empty and repeated lines and keep the limits', () => {
    expect(parseStops('a\n\na\nb')).toEqual(['a', 'b']);
    expect(parseStops(Array.from({ length: 40 }, (_, i) => `s${i}`).join('\n'))).toHaveLength(16);
    expect(parseStops('x'.repeat(500))[0]).toHaveLength(200);
  });
});
