/**
 * `npm run build`: makes each service one file, `dist/gateway/main.mjs` and so on: starts faster than the sources and
 * needs no type stripping at run time. `npm start` runs those that are current, and the sources otherwise.
 * `npm run build -- SERVICE FOLDER` makes that service there.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import type { ServiceName } from '@sluice/stack';
import type { Plugin } from 'rolldown';

const root = resolve(import.meta.dirname, '..');
const services: readonly ServiceName[] = ['gateway', 'control-plane', 'data-service'];
const folderOf = (service: ServiceName) => join(root, 'dist', service);

/** Beside the built file. */
const manifestName = 'sources.json';

/** What the file was made of. */
interface Manifest {
  /** Paths below the root. */
  sources: string[];
  digest: string;
}

/**
 * Bundles the service and returns the file.
 * `more` are files that it depends on beside its modules.
 */
export async function buildService(
  service: ServiceName,
  into: string = folderOf(service),
  more: readonly string[] = [],
): Promise<string> {
  const file = join(into, 'main.mjs');
  // Only who builds needs it: `npm start` asks what is current and must not wait for it.
  const { rolldown } = await import('rolldown');
  rmSync(into, { recursive: true, force: true });
  const build = await rolldown({
    input: join(root, 'services', service, 'src/main.ts'),
    platform: 'node',
    logLevel: 'silent',
    plugins: [staysInCheckout(into)],
  });
  const { output } = await build.write({
    file,
    format: 'esm',
    codeSplitting: false,
    minify: true,
    sourcemap: true,
  });
  await build.close();
  const sources = output
    .flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
    .concat(more)
    .filter((id) => id.startsWith(root))
    .map((id) => relative(root, id))
    .sort();
  const made: Manifest = { sources, digest: digestOf(sources) };
  writeFileSync(join(into, manifestName), JSON.stringify(made));
  return file;
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
    const { sources, digest } = JSON.parse(
      readFileSync(join(from, manifestName), 'utf8'),
    ) as Manifest;
    return digestOf(sources) === digest ? join(from, 'main.mjs') : undefined;
  } catch {
    return undefined;
  }
}

/** Of what the files contain, and of what they run with. */
function digestOf(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const source of [...sources, 'pnpm-lock.yaml']) {
    const content = readFileSync(join(root, source));
    hash.update(`${source}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/**
 * Migrations, schemas and the viewer of the specification stay in the checkout,
 * and native code in its packages: what a module finds from where it lies, it
 * finds from the built file too, wherever the checkout is moved together with it.
 */
function staysInCheckout(into: string): Plugin {
  const fromBuild = (path: string) => JSON.stringify(relative(into, path));
  return {
    name: 'stays-in-checkout',
    resolveId(id, importer) {
      if (!/^chdb(\/|$)/.test(id) || importer === undefined) return null;
      return { id: relative(into, createRequire(importer).resolve(id)), external: true };
    },
    transform(code, id) {
      if (!id.startsWith(root) || id.includes('node_modules')) return null;
      return code
        .replaceAll(
          'import.meta.dirname',
          `(import.meta.dirname + '/' + ${fromBuild(dirname(id))})`,
        )
        .replaceAll('import.meta.url', `new URL(${fromBuild(id)}, import.meta.url).href`);
    },
  };
}

if (import.meta.main) {
  const [service, into] = process.argv.slice(2);
  const wanted = services.filter((each) => service === undefined || each === service);
  for (const each of wanted) console.log(await buildService(each, into));
}
