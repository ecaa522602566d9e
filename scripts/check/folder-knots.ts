import { dirname, join, normalize } from 'node:path/posix';
import type { SourceFile } from './source-files.ts';
import { importsOf } from './source-imports.ts';

/** An arrow that closes a knot and stays: nothing else of the two folders is excused. */
export interface KnotException {
  /** The folder that imports, and the one that is imported; paths from the root. */
  from: string;
  to: string;
  because: string;
}

interface Arrow {
  from: string;
  to: string;
  /** `a.ts → b.ts`, the first that makes it. */
  example: string;
}

/**
 * Folders that need each other, at every level below `src/` of a service or package: none
 * of them can be read, tested or moved alone. Type imports count, tests do not.
 * Files between folders lead from one to another, but are no folders of a knot.
 */
export function findFolderKnots(
  files: readonly SourceFile[],
  exceptions: readonly KnotException[] = [],
): string[] {
  const imports = importsBetween(files.filter(({ path }) => isSource(path)));
  const used = new Set<KnotException>();
  const faults: string[] = [];
  for (const level of levelsOf(imports)) {
    const arrows = arrowsAt(level, imports).filter((arrow) => {
      const exception = exceptions.find(({ from, to }) => from === arrow.from && to === arrow.to);
      if (exception !== undefined) used.add(exception);
      return exception === undefined;
    });
    for (const knot of knotsOf(arrows)) {
      const folders = knot.filter((name) => !name.endsWith('.ts'));
      if (folders.length < 2) continue;
      const inside = arrows.filter(({ from, to }) => knot.includes(from) && knot.includes(to));
      faults.push(
        `${level}/ has a knot of ${folders.map((path) => path.slice(level.length + 1)).join(', ')}:`,
        ...inside.map(({ example }) => `  ${example.replaceAll(`${level}/`, '')}`),
      );
    }
  }
  for (const exception of exceptions)
    if (!used.has(exception))
      faults.push(`${exception.from} no longer imports ${exception.to}: the exception can go`);
  return faults;
}

type Import = readonly [from: string, to: string];

function importsBetween(files: readonly SourceFile[]): Import[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.flatMap(({ path, text }) =>
    importsOf(text)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => [path, normalize(join(dirname(path), specifier))] as const)
      .filter(([, target]) => paths.has(target)),
  );
}

/** Every folder that holds folders: `services/gateway/src`, `services/gateway/src/routing` … */
function levelsOf(imports: readonly Import[]): string[] {
  const levels = new Set<string>();
  for (const path of imports.flat()) {
    let level = dirname(dirname(path));
    for (; level.split('/').length >= 3; level = dirname(level)) levels.add(level);
  }
  return [...levels].sort();
}

/** Arrows between what lies directly in a folder. */
function arrowsAt(level: string, imports: readonly Import[]): Arrow[] {
  const arrows = new Map<string, Arrow>();
  for (const [file, target] of imports) {
    const [from, to] = [childOf(level, file), childOf(level, target)];
    if (from === undefined || to === undefined || from === to) continue;
    const name = `${from} ${to}`;
    if (!arrows.has(name)) arrows.set(name, { from, to, example: `${file} → ${target}` });
  }
  return [...arrows.values()];
}

function childOf(level: string, path: string): string | undefined {
  if (!path.startsWith(`${level}/`)) return undefined;
  return `${level}/${path.slice(level.length + 1).split('/')[0]}`;
}

/** Tarjan's strongly connected components, those of one node left out. */
function knotsOf(arrows: readonly Arrow[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  const order = new Map<string, number>();
  const stack: string[] = [];
  const knots: string[][] = [];
  const visit = (node: string): number => {
    const own = order.size;
    order.set(node, own);
    let low = own;
    stack.push(node);
    for (const other of next.get(node) ?? []) {
      if (!order.has(other)) low = Math.min(low, visit(other));
      else if (stack.includes(other)) low = Math.min(low, order.get(other) ?? own);
    }
    if (low === own) {
      const knot = stack.splice(stack.indexOf(node));
      if (knot.length > 1) knots.push(knot.sort());
    }
    return low;
  };
  for (const node of next.keys()) if (!order.has(node)) visit(node);
  return knots;
}

function isSource(path: string): boolean {
  return (
    /^(services|packages)\/[^/]+\/src\//.test(path) &&
    !/\.test\.ts$|\/(fixtures|generated)\//.test(path)
  );
}
