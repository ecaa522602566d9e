/**
 * `npm run bundle -- --key FILE`: all that an installation without a way out needs, in one signed
 * archive, `dist/sluice-<version>.tar`. Takes the images of `npm run images`, and packages the chart.
 * `npm run bundle -- --new-key DIR` makes a pair of keys. docs/deploy/airgap.md tells of both.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeKeys, readPrivateKey } from './bundle/keys.ts';
import { makeBundle } from './bundle/make-bundle.ts';
import { helm } from './chart/helm.ts';

const root = resolve(import.meta.dirname, '..');
const help = `Usage: npm run bundle -- --key FILE [options]
       npm run bundle -- --new-key DIR

  --new-key DIR         make sluice.key and sluice.pub there; under BUNDLE_KEY_PASSPHRASE when it is set
  --key FILE            the private key that signs
  --minisign-key FILE   sign with minisign as well
  --images DIR          what npm run images made (dist/images)
  --chart FILE          a packaged chart (deploy/chart/sluice, packaged now)
  --facts DIR           signed price files and facts to go along
  --out DIR             where the bundle goes (dist)
`;

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      'new-key': text,
      key: text,
      'minisign-key': text,
      images: text,
      chart: text,
      facts: text,
      out: text,
      help: { type: 'boolean', short: 'h' },
    },
  });
  const from = process.env.INIT_CWD ?? process.cwd();
  const path = (value: string) => resolve(from, value);
  if (values['new-key'] !== undefined) {
    const { privateKey, publicKey } = makeKeys(path(values['new-key']));
    process.stdout.write(`${privateKey} signs: keep it to yourself.\n${publicKey} verifies.\n`);
    return 0;
  }
  if (values.help === true || values.key === undefined) {
    process.stdout.write(help);
    return values.help === true ? 0 : 2;
  }
  const images = values.images === undefined ? join(root, 'dist/images') : path(values.images);
  if (!existsSync(join(images, 'images.json')))
    throw new Error(`${images}: has no images.json; npm run images makes it`);
  const archive = await makeBundle({
    root,
    images,
    built: join(images, '..'),
    chart: values.chart === undefined ? packagedChart() : path(values.chart),
    facts: values.facts === undefined ? undefined : path(values.facts),
    commit: commitOf(root),
    key: readPrivateKey(path(values.key)),
    minisignKey: values['minisign-key'] === undefined ? undefined : path(values['minisign-key']),
    out: values.out === undefined ? join(root, 'dist') : path(values.out),
    sourceSboms: sourceSboms(images),
    say: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(`${archive}\n`);
  return 0;
}

function commitOf(folder: string): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : 'unknown';
}

/** What the lock file names for services, as pnpm tells it; what changes from run to run is set. */
function sourceSboms(images: string): Map<string, string> {
  const { created } = JSON.parse(readFileSync(join(images, 'images.json'), 'utf8')) as {
    created: string;
  };
  const pnpm = join(root, '.toolchain/node_modules/pnpm/bin/pnpm.mjs');
  return new Map(
    (['cyclonedx', 'spdx'] as const).map((format) => {
      const flags = ['sbom', '--lockfile-only', '--prod', '--sbom-format', format];
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [pnpm, ...flags, '--sbom-type', 'application'],
        { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
      );
      if (status !== 0) throw new Error(`pnpm sbom failed: ${stderr}`);
      const document = JSON.parse(stdout) as Record<string, unknown> & {
        metadata?: object;
        creationInfo?: object;
      };
      const settled =
        format === 'cyclonedx'
          ? { ...document, metadata: { ...document.metadata, timestamp: created } }
          : {
              ...document,
              documentNamespace: 'urn:sluice:sbom:source',
              creationInfo: { ...document.creationInfo, created },
            };
      if (format === 'cyclonedx') delete (settled as Record<string, unknown>).serialNumber;
      const file = format === 'cyclonedx' ? 'source.cdx.json' : 'source.spdx.json';
      return [file, `${JSON.stringify(settled, null, 1)}\n`];
    }),
  );
}

/** By the real Helm, from this checkout. */
function packagedChart(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-chart-'));
  const flags = ['package', join(root, 'deploy/chart/sluice'), '--destination', folder];
  const { status, stderr } = spawnSync(helm(), flags, { encoding: 'utf8' });
  const [file] = readdirSync(folder);
  if (status !== 0 || file === undefined) throw new Error(`helm package failed: ${stderr}`);
  return join(folder, file);
}
