/** assets/catalogue/models.json: models to begin with, for a first start without a network. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type CatalogueEntry, catalogueEntrySchema } from '../../contract/hub';
import { storageError } from '../lib/files';

export const catalogueSchema = z.object({ version: z.literal(1), models: z.array(catalogueEntrySchema) });

export async function readCatalogue(path: string): Promise<CatalogueEntry[]> {
  try {
    return catalogueSchema.parse(JSON.parse(await readFile(path, 'utf8'))).models;
  } catch (error) {
    throw storageError('The list of suggested models could not be read', error);
  }
}
