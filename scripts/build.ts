/**
 * `npm run build`: makes the gateway one file, `dist/gateway/main.mjs`, as an image carries it: starts faster than the
 * sources and needs no type stripping at run time. `npm start` runs it while it is current, and the sources otherwise.
 * With a folder behind it the files go there.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const dir = join(root, 'dist/gateway');

/** Beside the built file. */
const manifestName = 'sources.json';

/** What the file was made of. */
interface Manifest {
  /** Paths below the root. */
  sources: string[];
  digest: string;
}

/**
 * Bundles the gateway and returns the file.
 * `more` are files that it depends on beside its modules.
 */
export async function buildGateway(into = dir, more: readonly string[] = []): Promise<string> {
  const file = join(into, 'main.mjs');
  // Only who builds needs it: `npm start` asks what is current and must not wait for it.
  const { rolldown } = await import('rolldown');
  rmSync(into, { recursive: true, force: true });
  const build = await rolldown({
    input: join(root, 'services/gateway/src/main.ts'),
    platform: 'node',
    logLevel: 'silent',
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

/** The built gateway, or undefined when there is none or a source has changed since. */
export function currentBuild(from = dir): string | undefined {
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

if (import.meta.main) console.log(await buildGateway(process.argv[2]));
