import { cpSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import type { Plugin } from 'rolldown';

/** What a built file reads beside itself, found while it was made. */
export interface Beside {
  /** TypeScript files that run as threads or commands: each becomes a file of its own, `<name>.mjs`. */
  readonly entries: Map<string, string>;
  /** Folders and files to copy: their place beside the built file, and where they are. */
  readonly assets: Map<string, string>;
}

/**
 * Makes a service independent of the place where its sources lie. Four ways to name what is read at run time are known:
 *
 * - `new URL('./thread.ts', import.meta.url)`: a thread, built into `thread.mjs`
 * - `join(import.meta.dirname, '../folder')`, in one piece or several: a folder, copied
 * - `import.meta.resolve('package/file')`: a file of a package, copied
 * - `dirname(createRequire(import.meta.url).resolve('package/package.json'))`: the folder of a package, copied
 *
 * @throws Error (through the bundler) for any other use of where a module of ours lies
 */
export function selfContained(root: string, beside: Beside): Plugin {
  function put(places: Map<string, string>, place: string, from: string): string {
    const other = places.get(place);
    if (other !== undefined && other !== from)
      throw new Error(`${from} and ${other} would both be ${place} beside the built file.`);
    places.set(place, from);
    return place;
  }
  return {
    name: 'self-contained',
    transform(code, id) {
      if (!id.startsWith(root) || id.includes('node_modules') || !places.test(code)) return null;
      // Sets what Prisma's engines would need; there are none.
      if (id.includes('/generated/prisma/')) return null;
      const moved = code
        .replace(threads, (_, path: string) => {
          const entry = join(dirname(id), path);
          return `new URL('./${put(beside.entries, builtName(entry), entry)}', import.meta.url)`;
        })
        .replace(packageFolders, (_, name: string) => {
          const folder = dirname(createRequire(id).resolve(`${name}/package.json`));
          return `(import.meta.dirname + '/${put(beside.assets, name, folder)}')`;
        })
        .replace(folders, (_, pieces: string) => {
          const folder = join(dirname(id), ...pieces.slice(1, -1).split("', '"));
          return `(import.meta.dirname + '/${put(beside.assets, basename(folder), folder)}')`;
        })
        .replace(packageFiles, (_, name: string) => {
          const file = createRequire(id).resolve(name);
          return `new URL('./${put(beside.assets, name, file)}', import.meta.url).href`;
        });
      const left = [threads, packageFolders, folders, packageFiles].reduce(
        (rest, known) => rest.replace(known, ''),
        code,
      );
      if (places.test(left))
        throw new Error(
          `${relative(root, id)} reads from where it lies in a way that a built file cannot; scripts/bundling/self-contained.ts says which it can.`,
        );
      return { code: moved, map: null };
    },
  };
}

const places = /import\.meta\.(url|dirname|filename|resolve)\b|createRequire\(/;
const threads = /new URL\('(\.\.?\/[^']+\.ts)', import\.meta\.url\)/g;
const folders = /join\(import\.meta\.dirname, ('[^']+'(?:, '[^']+')*)\)/g;
const packageFolders =
  /dirname\(createRequire\(import\.meta\.url\)\.resolve\('([^'.][^']*)\/package\.json'\)\)/g;
const packageFiles = /import\.meta\.resolve\('([^'.][^']*)'\)/g;

/** `src/send-segments.ts` becomes `send-segments.mjs`. */
export const builtName = (entry: string): string => `${basename(entry, '.ts')}.mjs`;

/** Copies the assets and returns the files that they come to, sorted. */
export function copyAssets(assets: Beside['assets'], into: string): string[] {
  for (const [place, from] of assets) {
    mkdirSync(dirname(join(into, place)), { recursive: true });
    cpSync(from, join(into, place), { recursive: true });
  }
  return [...assets.values()].flatMap(filesBelow).sort();
}

/** The file itself, or all below the folder. */
export function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
