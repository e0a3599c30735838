/** What pdf.js asks of its surroundings, answered without a network, a canvas or fonts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of `getDocument` that reach outside. `cMapFolder` holds the packed character maps (*.bcmap). */
export function surroundings(cMapFolder: string) {
  class CMapReader {
    async fetch({ name }: { name: string }) {
      if (!/^[\w-]+$/.test(name)) throw new Error(`There is no character map ${name}.`);
      return { cMapData: new Uint8Array(readFileSync(join(cMapFolder, `${name}.bcmap`))), isCompressed: true };
    }
  }
  return {
    CMapReaderFactory: CMapReader,
    StandardFontDataFactory: NoFonts,
    CanvasFactory: Nothing,
    FilterFactory: Nothing,
    useWorkerFetch: false,
    isEvalSupported: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
  };
}

/** Widths and letters of the standard fonts are built in; their outlines serve drawing only. */
class NoFonts {
  async fetch(): Promise<never> {
    throw new Error('Nothing is drawn here.');
  }
}

class Nothing {
  destroy(): void {}
}
