import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract, type Header, pack } from 'tar-stream';

/** A file, folder or link of an archive. Its path has no slash at either end. */
export interface TarEntry {
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Permissions. */
  mode: number;
  uid: number;
  gid: number;
  mtime: Date;
  /** Of a file. */
  content?: Buffer;
  /** Of a link: where it leads. */
  target?: string;
}

/** All entries with their contents; a hard link is a file of the same content. */
export async function readTar(archive: Buffer): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  const contents = new Map<string, Buffer>();
  const reader = extract();
  const source = pipeline(Readable.from([archive]), reader);
  for await (const entry of reader) {
    const { header } = entry;
    const path = clean(header.name);
    const own = await buffer(entry as unknown as Readable);
    const base = {
      path,
      mode: header.mode,
      uid: header.uid,
      gid: header.gid,
      mtime: header.mtime,
    };
    if (header.type === 'directory') entries.push({ ...base, type: 'directory' });
    else if (header.type === 'symlink')
      entries.push({ ...base, type: 'symlink', target: header.linkname });
    else if (header.type === 'file' || header.type === 'link') {
      const content = header.type === 'file' ? own : contents.get(clean(header.linkname));
      if (content === undefined) throw new Error(`${path} is a link to what is not there.`);
      contents.set(path, content);
      entries.push({ ...base, type: 'file', content });
    } else throw new Error(`${path} is a ${header.type}, which no image of ours has.`);
  }
  await source;
  return entries;
}

/** For what has no time of its own. */
export const fixedTime = new Date(0);

const clean = (path: string) => path.replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '');

/**
 * The same bytes for the same entries: sorted, with the folders that lead to them, and the last of those with one path.
 * Folders that are not given belong to root.
 */
export async function writeTar(entries: readonly TarEntry[]): Promise<Buffer> {
  const byPath = new Map<string, TarEntry>();
  for (const entry of entries) if (entry.path !== '') byPath.set(entry.path, entry);
  for (const path of [...byPath.keys()])
    for (const folder of foldersTo(path)) {
      const there = byPath.get(folder);
      if (there === undefined) byPath.set(folder, directory(folder));
      else if (there.type !== 'directory')
        throw new Error(`${path} would be below ${folder}, which is no folder.`);
    }
  const writer = pack();
  const whole = buffer(writer as unknown as Readable);
  const sorted = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const entry of sorted) {
    const header: Partial<Header> & { name: string } = {
      name: entry.type === 'directory' ? `${entry.path}/` : entry.path,
      type: entry.type,
      mode: entry.mode,
      uid: entry.uid,
      gid: entry.gid,
      mtime: entry.mtime,
      ...(entry.target === undefined ? {} : { linkname: entry.target }),
    };
    await new Promise<void>((resolve, reject) => {
      writer.entry(header, entry.content ?? Buffer.alloc(0), (error) =>
        error == null ? resolve() : reject(error),
      );
    });
  }
  writer.finalize();
  return whole;
}

function foldersTo(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

const ofRoot = { uid: 0, gid: 0, mtime: fixedTime };

export const directory = (path: string, more: Partial<TarEntry> = {}): TarEntry => ({
  path,
  type: 'directory',
  mode: 0o755,
  ...ofRoot,
  ...more,
});

export const file = (
  path: string,
  content: Buffer | string,
  more: Partial<TarEntry> = {},
): TarEntry => ({
  path,
  type: 'file',
  mode: 0o644,
  ...ofRoot,
  content: Buffer.from(content as string),
  ...more,
});

export const symlink = (path: string, target: string): TarEntry => ({
  path,
  type: 'symlink',
  mode: 0o777,
  ...ofRoot,
  target,
});
