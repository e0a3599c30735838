export interface Signature {
  name: string;
  template: boolean;
  parameters: { role: string; index: number }[];
}
export function signaturesOf(source: string): Signature[];
