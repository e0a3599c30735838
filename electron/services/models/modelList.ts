/** models.json: the files and folders that a person added. The files themselves are never touched. */
import { join } from 'node:path';
import { z } from 'zod';
import { readOrSetAside, writeFileAtomic } from '../lib/files';

const listSchema = z.object({
  version: z.literal(1).default(1),
  files: z.array(z.string()).default([]),
  folders: z.array(z.string()).default([]),
  /** keys of files of a folder that a person took off the list */
  hidden: z.array(z.string()).default([]),
});
type List = z.infer<typeof listSchema>;

export class ModelList {
  readonly notices: string[] = [];
  private list: List = listSchema.parse({});
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly now: () => Date = () => new Date(),
  ) {}

  async load(): Promise<void> {
    const list = await readOrSetAside(this.path, listSchema.parse, this.now(), (name) =>
      this.notices.push(`The list of models could not be read. It was kept as ${name}; add your models again.`),
    );
    if (list) this.list = list;
  }

  get(): Readonly<List> {
    return this.list;
  }

  addFile(path: string): Promise<void> {
    return this.save(({ files, hidden }) => ({ files: withOne(files, path), hidden: without(hidden, path) }));
  }

  addFolder(path: string, filesInIt: string[]): Promise<void> {
    return this.save(({ folders, hidden }) => ({
      folders: withOne(folders, path),
      hidden: hidden.filter((one) => !filesInIt.includes(one)),
    }));
  }

  /** What was hidden of it comes back when it is added again. */
  removeFolder(path: string): Promise<void> {
    const isInside = (one: string) => one.startsWith(join(path, '/'));
    return this.save(({ folders, hidden }) => ({
      folders: without(folders, path),
      hidden: hidden.filter((one) => !isInside(one)),
    }));
  }

  async unhide(path: string): Promise<void> {
    if (this.list.hidden.includes(path)) await this.save(({ hidden }) => ({ hidden: without(hidden, path) }));
  }

  /** `inFolder`: the file would come back with its folder, so it is hidden. */
  remove(path: string, inFolder: boolean): Promise<void> {
    return this.save(({ files, hidden }) => ({
      files: without(files, path),
      hidden: inFolder ? withOne(hidden, path) : hidden,
    }));
  }

  /** `change` sees the list as the change before it left it. */
  private save(change: (list: List) => Partial<List>): Promise<void> {
    const result = this.writing.then(async () => {
      const next = { ...this.list, ...change(this.list) };
      await writeFileAtomic(this.path, `${JSON.stringify(next, null, 2)}\n`);
      this.list = next;
    });
    this.writing = result.catch(() => undefined);
    return result;
  }
}

function withOne(list: string[], one: string): string[] {
  return list.includes(one) ? list : [...list, one];
}

function without(list: string[], one: string): string[] {
  return list.filter((other) => other !== one);
}
