/**
 * `npm run build`: makes the gateway one file, `dist/gateway/main.mjs`, as an image carries it: starts faster than the
 * sources and needs no type stripping at run time. Run it to measure or to package; development and `npm start` use the
 * sources.
 */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const root = resolve(import.meta.dirname, '..');

/** Bundles the gateway and returns the file. */
export async function buildGateway(): Promise<string> {
  const dir = join(root, 'dist/gateway');
  rmSync(dir, { recursive: true, force: true });
  const build = await rolldown({
    input: join(root, 'services/gateway/src/main.ts'),
    platform: 'node',
    logLevel: 'silent',
  });
  const file = join(dir, 'main.mjs');
  await build.write({ file, format: 'esm', codeSplitting: false, minify: true, sourcemap: true });
  await build.close();
  return file;
}

if (import.meta.main) console.log(await buildGateway());
