/**
 * `npm run build`: makes each service a folder that works wherever it is put: one file, `dist/gateway/main.mjs` and so
 * on, with its source map, its threads, and what it reads at run time. It starts faster than the sources and needs no
 * type stripping. `npm start` runs those that are current, and the sources otherwise; images hold them (`npm run images`).
 * `npm run build -- SERVICE FOLDER` makes that service there.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { ServiceName } from '@sluice/stack';
import { type BundledPackage, bundledPackages, licenceTexts } from './bundling/bundled-packages.ts';
import { lazyHttp } from './bundling/lazy-http.ts';
import {
  type Beside,
  builtName,
  copyAssets,
  filesBelow,
  selfContained,
} from './bundling/self-contained.ts';
import { usedUndici } from './bundling/used-undici.ts';

const root = resolve(import.meta.dirname, '..');

/** What is built: the services, and the command that prepares their stores. */
export type Buildable = ServiceName | 'migrations';

interface Recipe {
  /** Becomes `main.mjs`. */
  main: string;
  /** Become commands beside it, named after their files. */
  commands?: readonly string[];
  /**
   * Packages that are only found in a checkout: native code that no image has. A service says what to set instead when it
   * misses one.
   */
  leftInCheckout?: readonly string[];
  /** Something in it goes by the names of its own classes, which a short bundle would change. It costs each closure that is made. */
  keepsNames?: boolean;
}

const recipes: Readonly<Record<Buildable, Recipe>> = {
  gateway: { main: 'services/gateway/src/main.ts' },
  'control-plane': {
    main: 'services/control-plane/src/main.ts',
    commands: [
      'services/control-plane/src/bootstrap.ts',
      'services/control-plane/src/admin-key.ts',
    ],
    // oidc-provider keeps records by the names of its models.
    keepsNames: true,
  },
  'data-service': { main: 'services/data-service/src/main.ts', leftInCheckout: ['chdb'] },
  migrations: { main: 'scripts/migrate.ts' },
};
export const buildables = Object.keys(recipes) as Buildable[];
/** Nothing is bundled of these, whoever imports them. */
const external = Object.values(recipes).flatMap(({ leftInCheckout = [] }) => leftInCheckout);
const services = buildables.filter((name): name is ServiceName => name !== 'migrations');
const folderOf = (name: Buildable) => join(root, 'dist', name);

/** Beside the folder, which holds nothing but what runs. */
const manifestOf = (folder: string) => `${folder}.sources.json`;
const licencesName = 'LICENCES.txt';

/** What the folder was made of, and what is in it. */
interface Manifest extends Omit<Built, 'file'> {
  /** Paths below the root; those of folders end with a slash and stand for the names in them. */
  sources: string[];
  digest: string;
}

/** A built folder. */
export interface Built {
  /** To run. */
  readonly file: string;
  /** All that belongs to it, below its folder, sorted. */
  readonly files: readonly string[];
  /** Of others, in it. */
  readonly packages: readonly BundledPackage[];
}

/**
 * Bundles the service and returns the file.
 * `more` are files that it depends on beside its modules.
 */
export async function buildService(
  name: Buildable,
  into: string = folderOf(name),
  more: readonly string[] = [],
): Promise<string> {
  return (await build(name, into, more)).file;
}

/**
 * Bundles the service into a folder. `source` is a checkout with what it needs installed, of this commit or another, which may
 * lack commands that came later.
 * @throws Error when something in it would only be found in that checkout
 */
export async function build(
  name: Buildable,
  into: string = folderOf(name),
  more: readonly string[] = [],
  source: string = root,
): Promise<Built> {
  const { main, commands = [], leftInCheckout = [], keepsNames = false } = recipes[name];
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  const beside: Beside = { entries: new Map(), assets: new Map() };
  beside.entries.set('main.mjs', join(source, main));
  for (const command of commands)
    if (source === root || existsSync(join(source, command)))
      beside.entries.set(builtName(command), join(source, command));
  const moduleIds = new Set<string>();
  // Threads are found while what starts them is bundled.
  for (const [file, entry] of beside.entries)
    for (const id of await bundle(source, entry, join(into, file), beside, keepsNames))
      moduleIds.add(id);
  const entries = [...beside.entries.keys()];
  for (const id of copyAssets(beside.assets, into)) moduleIds.add(id);
  const packages = bundledPackages(moduleIds);
  writeFileSync(join(into, licencesName), licenceTexts(packages));
  const built: Omit<Built, 'file'> = {
    files: [
      ...entries.flatMap((file) => [file, `${file}.map`]),
      ...[...beside.assets.keys()].flatMap((place) =>
        filesBelow(join(into, place)).map((file) => relative(into, file)),
      ),
      licencesName,
    ].sort(),
    packages: [...packages.values()].map(({ folder: _, ...each }) => each),
  };
  const folders = [...beside.assets.values()].filter((path) => filesBelow(path)[0] !== path);
  const sources = [...moduleIds, ...folders.map((folder) => `${folder}/`), ...more]
    .filter((id) => id.startsWith(source))
    .map((id) => id.slice(source.length + 1))
    .sort();
  const made: Manifest = { sources, digest: digestOf(source, sources), ...built };
  writeFileSync(manifestOf(into), JSON.stringify(made));
  linkToCheckout(source, name, leftInCheckout, into);
  return { file: join(into, 'main.mjs'), ...built };
}

/** What was built there. @throws Error when nothing was */
export function readBuilt(folder: string): Built {
  const { files, packages } = JSON.parse(readFileSync(manifestOf(folder), 'utf8')) as Manifest;
  return { file: join(folder, 'main.mjs'), files, packages };
}

/** Returns the modules that are in it. */
async function bundle(
  source: string,
  entry: string,
  file: string,
  beside: Beside,
  keepNames: boolean,
): Promise<readonly string[]> {
  // Only who builds needs it: `npm start` asks what is current and must not wait for it.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: entry,
    platform: 'node',
    logLevel: 'silent',
    external: external.map((name) => new RegExp(`^${name}(/|$)`)),
    plugins: [selfContained(source, beside), lazyHttp, usedUndici],
  });
  const { output } = await build.write({
    file,
    format: 'esm',
    codeSplitting: false,
    minify: true,
    // One character beyond ASCII, and Node holds all of the file with two bytes each.
    charset: 'ascii',
    // The terms of packages stand beside it.
    comments: false,
    keepNames,
    sourcemap: true,
    // As seen from the root, so that the map is the same wherever the file is written.
    sourcemapExcludeSources: true,
    sourcemapPathTransform: (path, map) => relative(source, resolve(dirname(map), path)),
  });
  await build.close();
  return output
    .flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
    .filter((id) => !id.startsWith('\0'));
}

/** Above the built folder: what runs in the checkout finds its native packages, and only that. */
function linkToCheckout(
  source: string,
  name: Buildable,
  packages: readonly string[],
  into: string,
): void {
  const modules = join(dirname(into), 'node_modules');
  for (const each of packages) {
    mkdirSync(modules, { recursive: true });
    rmSync(join(modules, each), { force: true });
    const folder = join(source, 'services', name, 'node_modules', each);
    symlinkSync(relative(modules, folder), join(modules, each));
  }
}

/** The services whose built files are what their sources say, each with its file. */
export function currentBuilds(): Partial<Record<ServiceName, string>> {
  return Object.fromEntries(
    services.flatMap((service) => {
      const file = currentBuild(folderOf(service));
      return file === undefined ? [] : [[service, file]];
    }),
  );
}

/** The service built here, or undefined when there is none or a source has changed since. */
export function currentBuild(from: string): string | undefined {
  try {
    const { sources, digest } = JSON.parse(readFileSync(manifestOf(from), 'utf8')) as Manifest;
    return digestOf(root, sources) === digest ? join(from, 'main.mjs') : undefined;
  } catch {
    return undefined;
  }
}

/** Of what the files contain, and of what they run with. */
function digestOf(below: string, sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const source of [...sources, 'pnpm-lock.yaml']) {
    const path = join(below, source);
    const content = source.endsWith('/') ? readdirSync(path).sort().join('\n') : readFileSync(path);
    hash.update(`${source}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

if (import.meta.main) {
  const [wanted, into] = process.argv.slice(2);
  const names = buildables.filter((each) => wanted === undefined || each === wanted);
  for (const each of names) console.log(await buildService(each, into));
}
