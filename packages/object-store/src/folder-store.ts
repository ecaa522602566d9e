import { renameSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { type ListOptions, type ObjectPage, type ObjectStore, StoreError } from './object-store.ts';

/** A folder of this machine: an object is a file, its key the path. For one machine, or a volume that all share. */
export class FolderStore implements ObjectStore {
  readonly name: string;
  readonly #root: string;
  /** Folders that were made, so that most objects take one call. */
  readonly #made = new Set<string>();
  readonly #blocks: boolean;
  #written = 0;

  /**
   * @param blocks whether objects are written within the call, on the caller's thread. Each hop to
   * the pool of threads costs more than the file itself: for a thread that does nothing else.
   */
  constructor(root: string, { blocks = false } = {}) {
    this.#root = resolve(root);
    this.#blocks = blocks;
    this.name = `folder ${this.#root}`;
  }

  async put(key: string, content: Uint8Array): Promise<void> {
    const path = this.#pathOf(key);
    await this.#guarded(async () => {
      const folder = dirname(path);
      if (!this.#made.has(folder)) await this.#make(folder);
      // A reader finds all of it, or nothing.
      const unfinished = `${path}.${process.pid}-${this.#written++}${partEnding}`;
      try {
        await this.#write(unfinished, path, content);
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error;
        // Somebody removed the empty folder meanwhile.
        await this.#make(folder);
        await this.#write(unfinished, path, content);
      }
    });
  }

  #write(unfinished: string, path: string, content: Uint8Array): Promise<void> | void {
    if (!this.#blocks)
      return writeFile(unfinished, content, writing).then(() => rename(unfinished, path));
    writeFileSync(unfinished, content, writing);
    renameSync(unfinished, path);
  }

  async #make(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (this.#made.size >= madeMax) this.#made.clear();
    this.#made.add(folder);
  }

  async get(key: string): Promise<Buffer | undefined> {
    const path = this.#pathOf(key);
    return this.#guarded(async () => {
      try {
        return await readFile(path);
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
    });
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const path = this.#pathOf(key);
      await this.#guarded(() => rm(path, { force: true }));
      await this.#removeEmpty(dirname(path));
    }
  }

  /** Days that are over leave no tree of empty folders. */
  async #removeEmpty(folder: string): Promise<void> {
    for (let at = folder; at !== this.#root && at.startsWith(this.#root); at = dirname(at)) {
      try {
        await rmdir(at);
      } catch {
        // It is in use, or gone.
        return;
      }
      this.#made.delete(at);
    }
  }

  async list(prefix: string, { after = '', max = 1000 }: ListOptions = {}): Promise<ObjectPage> {
    const keys: string[] = [];
    const hasMore = await this.#guarded(() => this.#walk('', { prefix, after, max }, keys));
    return { keys, hasMore };
  }

  /** In the order of whole keys: a folder's name counts with its slash. True = it stopped at the most. */
  async #walk(
    folder: string,
    wanted: { prefix: string; after: string; max: number },
    keys: string[],
  ): Promise<boolean> {
    const { prefix, after, max } = wanted;
    let entries: { key: string; isFolder: boolean }[];
    try {
      const found = await readdir(join(this.#root, folder), { withFileTypes: true });
      entries = found.map((entry) => ({
        key: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`,
        isFolder: entry.isDirectory(),
      }));
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
    entries.sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
    for (const { key, isFolder } of entries) {
      if (isFolder) {
        const mayHold = key.startsWith(prefix) || prefix.startsWith(key);
        // All below it come before `after`, unless that is below it, too.
        const isPast = Buffer.compare(Buffer.from(key), Buffer.from(after)) < 0;
        if (!mayHold || (isPast && !after.startsWith(key))) continue;
        if (await this.#walk(key, wanted, keys)) return true;
      } else if (
        key.startsWith(prefix) &&
        !key.endsWith(partEnding) &&
        Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0
      ) {
        if (keys.length === max) return true;
        keys.push(key);
      }
    }
    return false;
  }

  addressOf(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Keys are made of ids and slugs; one that leads out of the folder is a fault of ours. */
  #pathOf(key: string): string {
    const path = resolve(this.#root, key);
    if (!path.startsWith(this.#root + sep) || key.includes('\0'))
      throw new StoreError('the key leads out of the folder', false);
    return path;
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = codeOf(error) ?? 'unknown';
      throw new StoreError(`the folder refused: ${code}`, true, error);
    }
  }
}

const writing = { mode: 0o600 };
/** Of files that are being written. */
const partEnding = '.part';
const madeMax = 10_000;

function isAbsent(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR';
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
