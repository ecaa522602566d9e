import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package of others of which something is in a built service. */
export interface BundledPackage {
  name: string;
  version: string;
  /** An SPDX expression as its manifest gives it, or `NOASSERTION`. */
  licence: string;
}

/** The packages that these modules belong to, each once, sorted by name and version; and where they lie. */
export function bundledPackages(
  moduleIds: Iterable<string>,
): ReadonlyMap<string, BundledPackage & { folder: string }> {
  const found = new Map<string, BundledPackage & { folder: string }>();
  const folders = new Set<string>();
  for (const id of moduleIds) {
    const folder = packageFolder(id);
    if (folder === undefined || folders.has(folder)) continue;
    folders.add(folder);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    const { name, version } = manifest;
    found.set(`${name}@${version}`, { name, version, licence: licenceOf(manifest), folder });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Manifest {
  name: string;
  version: string;
  license?: string | { type?: string };
  licenses?: { type?: string }[];
}

function licenceOf({ license, licenses }: Manifest): string {
  if (typeof license === 'string') return license;
  const types = (license === undefined ? (licenses ?? []) : [license]).flatMap(
    ({ type }) => type ?? [],
  );
  return types.length === 0 ? 'NOASSERTION' : types.join(' OR ');
}

/** `…/node_modules/@scope/name` of a module in there. */
function packageFolder(id: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replace(/\?.*$/, ''))?.[0];
}

const licenceFile = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** The terms of all of them, one after the other. */
export function licenceTexts(packages: ReturnType<typeof bundledPackages>): string {
  return [...packages.values()]
    .map(({ name, version, licence, folder }) => {
      const texts = readdirSync(folder)
        .filter((file) => licenceFile.test(file))
        .sort()
        .map((file) => readFileSync(join(folder, file), 'utf8').trim());
      return `${'='.repeat(80)}\n${name} ${version}\n${licence}\n${'='.repeat(80)}\n\n${texts.join('\n\n') || '(The package has no text of its terms.)'}\n`;
    })
    .join('\n');
}
