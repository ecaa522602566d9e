import { spawnSync } from 'node:child_process';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signFolder } from '@sluice/signed-files';
import { mergeImages } from './image-layout.ts';
import { signProvenance } from './provenance.ts';

export interface BundleParts {
  /** Of the checkout. */
  root: string;
  /** `dist/images`, as `npm run images` leaves it. */
  images: string;
  /** Where `dist/<service>/LICENCES.txt` are. */
  built: string;
  /** The packaged chart; undefined = the bundle has none. */
  chart: string | undefined;
  /** Signed folders of prices and facts to go along; undefined = none. */
  facts: string | undefined;
  commit: string;
  key: KeyObject;
  /** Of the packages that the sources name, by file. */
  sourceSboms: ReadonlyMap<string, string>;
  /** Of minisign, without a password or asking for it; undefined = no such signature. */
  minisignKey: string | undefined;
  out: string;
  say(line: string): void;
}

/** Makes `<out>/sluice-<version>` and its archive. Answers with the archive's path. */
export async function makeBundle(parts: BundleParts): Promise<string> {
  const { root, out, key, say } = parts;
  const version = (
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  ).version;
  const name = `sluice-${version}`;
  const dir = join(out, name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), content);
  };

  const { list, signatures } = mergeImages(parts.images, join(dir, 'images'), key);
  if (list.version !== version)
    throw new Error(
      `${parts.images}: is of ${list.version}; npm run images makes those of ${version}`,
    );
  for (const [file, bytes] of signatures) write(`signatures/${file}`, bytes);
  say(`${list.images.length} images, ${signatures.size / 2} signatures of them`);

  const notices: string[] = [];
  const materials = new Map<string, { uri: string }>();
  for (const { service, platforms } of list.images) {
    const text = readFileSync(join(parts.built, service, 'LICENCES.txt'), 'utf8');
    notices.push(`# ${service}\n\n${text}`);
    for (const { sboms } of platforms) {
      for (const file of Object.values(sboms))
        write(`sbom/${file}`, readFileSync(join(parts.images, file)));
      for (const uri of purlsOf(join(parts.images, sboms.cyclonedx))) materials.set(uri, { uri });
    }
  }
  for (const [file, text] of parts.sourceSboms) write(`sbom/${file}`, text);
  write('THIRD-PARTY.txt', notices.join('\n'));

  if (parts.chart === undefined) say('no chart');
  else cpSync(parts.chart, join(dir, 'chart', `sluice-${version}.tgz`));
  const copied = [
    ['deploy/values', 'values'],
    ['deploy/systemd', 'systemd'],
    ['deploy/grafana', 'grafana'],
    ['deploy/prometheus', 'prometheus'],
    ['docs', 'docs'],
    ['LICENSE', 'LICENSE'],
    ['CHANGELOG.md', 'CHANGELOG.md'],
    ['deploy/compose.yaml', 'compose/compose.yaml'],
    ['deploy/compose.grpc.yaml', 'compose/compose.grpc.yaml'],
    ['deploy/compose-secrets.sh', 'compose/compose-secrets.sh'],
    ['deploy/sluice.env', 'compose/sluice.env'],
    ['deploy/bundle/verify.sh', 'verify.sh'],
    ['deploy/bundle/install.sh', 'install.sh'],
  ] as const;
  for (const [from, to] of copied)
    if (existsSync(join(root, from))) cpSync(join(root, from), join(dir, to), { recursive: true });
  if (parts.facts !== undefined) cpSync(parts.facts, join(dir, 'facts'), { recursive: true });

  write('VERSION', `${version}\n`);
  write('sluice.pub', createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string);
  write(
    'provenance.intoto.json',
    signProvenance(
      {
        subjects: list.images.map(({ name: of, digest }) => ({
          name: of,
          sha256: digest.replace('sha256:', ''),
        })),
        commit: parts.commit,
        version,
        materials: [...materials.values()].sort((a, b) => (a.uri < b.uri ? -1 : 1)),
      },
      key,
    ),
  );
  const files = await signFolder(dir, key);
  if (parts.minisignKey !== undefined) minisign(dir, parts.minisignKey, name);
  say(`${files.length} files signed`);

  const archive = join(out, `${name}.tar`);
  pack(out, name, archive, list.created);
  return archive;
}

/** Packages that a bill of materials of CycloneDX lists. */
function purlsOf(path: string): string[] {
  const { components } = JSON.parse(readFileSync(path, 'utf8')) as {
    components: { purl?: string }[];
  };
  return components.flatMap(({ purl }) => (purl === undefined ? [] : [purl]));
}

function minisign(dir: string, key: string, name: string): void {
  run(
    'minisign',
    ['-S', '-s', key, '-m', 'SHA256SUMS', '-x', 'SHA256SUMS.minisig', '-t', name],
    dir,
  );
}

/** Sorted and without what differs between two machines: the same bytes but for signatures. */
function pack(out: string, name: string, archive: string, created: string): void {
  const flags = ['--sort=name', `--mtime=${created}`, '--owner=0', '--group=0', '--numeric-owner'];
  run('tar', [...flags, '--format=ustar', '--mode=u=rwX,go=rX', '-cf', archive, name], out);
}

function run(program: string, args: string[], cwd: string): void {
  const { status, error, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['inherit', 'inherit', 'pipe'],
  });
  if (error !== undefined) throw new Error(`${program} is needed: ${error.message}`);
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}
