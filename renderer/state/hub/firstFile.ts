/** The file that a page begins with: what most people would take. */
import type { HubFile, HubModelPage } from '../../../electron/contract/hub';

/** good answers in little memory, in this order */
const usualQuants = ['Q4_K_M', 'UD-Q4_K_XL', 'Q4_K_S', 'MXFP4', 'Q4_0', 'Q5_K_M', 'Q8_0'];

export function filesOf(page: HubModelPage): HubFile[] {
  return page.quants.flatMap(({ files }) => files);
}

/** A file that can be chatted with once it is here. */
export function isUsable({ kind, missingParts }: HubFile): boolean {
  return kind === 'model' && missingParts === 0;
}

/** `quant`: that of the catalogue, where it names the model; null: nothing here can be used */
export function firstFile(page: HubModelPage, quant?: string): HubFile | null {
  const usable = filesOf(page).filter(isUsable);
  for (const name of [...(quant ? [quant] : []), ...usualQuants]) {
    const found = usable.find((file) => file.quant === name);
    if (found) return found;
  }
  return usable[0] ?? null;
}
