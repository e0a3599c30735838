/** What is used here of tesseract.js-core 7, which brings no types. */
declare module 'tesseract.js-core/tesseract-core-simd-lstm.js' {
  export interface TesseractApi {
    /** @returns 0: done */
    Init(dataFolder: null, languages: string, oem: number): number;
    SetPageSegMode(psm: number): void;
    /** Takes the file `/input`, turned as Exif says. @returns 0: done */
    SetImageFile(exifOrientation: number, angle: number): number;
    SetSourceResolution(dpi: number): void;
    /** @returns 0: done */
    Recognize(monitor: null): number;
    GetUTF8Text(): string;
    /** 0 to 100 */
    MeanTextConf(): number;
    Clear(): void;
  }
  export interface Tesseract {
    FS: { writeFile(name: string, data: Uint8Array): void };
    TessBaseAPI: new () => TesseractApi;
  }
  export default function open(options: {
    wasmBinary: Uint8Array;
    TesseractProgress: (percent: number) => void;
    print: (line: string) => void;
    printErr: (line: string) => void;
  }): Promise<Tesseract>;
}
