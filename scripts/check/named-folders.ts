import type { Document } from './document-links.ts';

/** Packages and services' folders of `src` that no table of folders names: of packages the root's README, of these the service's. */
export function findUnnamedFolders(
  sources: readonly { path: string }[],
  readmes: readonly Document[],
): string[] {
  const named = new Set(
    readmes.flatMap(({ path, text }) => foldersNamed(text).map((folder) => `${path}: ${folder}`)),
  );
  const wanted = sources.flatMap(({ path }) => {
    const [, service, folder] = /^(services\/[^/]+)\/(src\/[^/]+)\//.exec(path) ?? [];
    if (service !== undefined) return [`${service}/README.md: ${folder}`];
    const [, name] = /^(packages\/[^/]+)\//.exec(path) ?? [];
    return name === undefined ? [] : [`README.md: ${name}`];
  });
  return [...new Set(wanted)]
    .filter((it) => !named.has(it))
    .map((it) => `${it} is in no table of folders`);
}

/** Of first cells: `packages/a`, `b` are two of the same folder; what ends with a slash is the folder itself. */
function foldersNamed(text: string): string[] {
  return [...text.matchAll(/^\| (`[^|]*)\|/gm)].flatMap(([, cell = '']) => {
    const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const around = first.slice(0, first.lastIndexOf('/', first.length - 2) + 1);
    return [first, ...others.map((name) => (name.includes('/') ? name : `${around}${name}`))].map(
      (name) => name.replace(/\/$/, ''),
    );
  });
}
