import { posix } from 'node:path';

/** A document of the project, by its path from the root. */
export interface Document {
  path: string;
  text: string;
}

/**
 * Links and pictures of documents that lead to no file or folder of the
 * project, or to no heading of the document they name, as `path: link`.
 * Addresses elsewhere are not asked for.
 */
export function findDeadLinks(
  documents: readonly Document[],
  exists: (path: string) => boolean,
): string[] {
  const headings = new Map(documents.map(({ path, text }) => [path, headingsOf(text)]));
  return documents.flatMap(({ path, text }) =>
    linksOf(text)
      .filter((link) => {
        const [file = '', heading] = link.split('#');
        const named = file === '' ? path : posix.join(posix.dirname(path), decodeURI(file));
        if (named.startsWith('../') || !exists(named)) return true;
        return heading !== undefined && headings.get(named)?.has(heading) === false;
      })
      .map((link) => `${path}: nothing is at ${link}`),
  );
}

/** What a document links to inside the project: `[text](path)` and `[name]: path`. */
function linksOf(text: string): string[] {
  const found = withoutCode(text).matchAll(/\]\(([^)\s]+)[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm);
  return [...found]
    .map(([, inline, reference]) => inline ?? reference ?? '')
    .filter((link) => !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(link));
}

/** Headings as they are addressed: lower case, hyphens for spaces, a number where two are alike. */
function headingsOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(fence, '').matchAll(/^#{1,6}\s+(.+?)\s*$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const name = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
    let address = name;
    for (let count = 1; found.has(address); count += 1) address = `${name}-${count}`;
    found.add(address);
  }
  return found;
}

const fence = /^( *)(```+|~~~+)[^\n]*\n[\s\S]*?^\1\2.*$/gm;

/** Examples in code are not links. */
function withoutCode(text: string): string {
  return text.replaceAll(fence, '').replaceAll(/(`+)[^\n]*?\1/g, '');
}
