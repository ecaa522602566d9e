import { dirname, join, normalize } from 'node:path/posix';
import {
  type FolderRules,
  folderRules,
  packageRules,
  partRules,
  testOnlyParts,
} from './import-rules.ts';
import type { SourceFile } from './source-files.ts';
import { exportAllLines, importsOf, type SourceImport } from './source-imports.ts';

/** Dependencies that a part declares in its package.json. */
export type DeclaredDependencies = Readonly<Record<string, ReadonlySet<string>>>;

/** One sentence a fault, with path and line. Pure: give it the files. */
export function findImportFaults(
  files: readonly SourceFile[],
  declared: DeclaredDependencies,
): string[] {
  const paths = new Set(files.map((file) => file.path));
  const faults: string[] = [];
  for (const file of files) {
    for (const entry of importsOf(file.text)) {
      const reason = faultOf(file.path, entry, declared);
      if (reason !== undefined)
        faults.push(`${file.path}:${entry.line} imports ${entry.specifier}: ${reason}`);
    }
    if (!file.path.startsWith('packages/proto-stubs/'))
      for (const line of exportAllLines(file.text))
        faults.push(`${file.path}:${line} exports everything of a file; list the names`);
  }
  return [...faults, ...findCycles(files, paths)];
}

function faultOf(
  path: string,
  entry: SourceImport,
  declared: DeclaredDependencies,
): string | undefined {
  const { specifier } = entry;
  const part = partOf(path);
  if (part === undefined) return undefined;
  if (specifier.startsWith('.')) return relativeFault(path, part, entry);
  if (specifier.startsWith('node:')) return packageFault(path, specifier, entry.isType);
  const name = packageName(specifier);
  if (name.startsWith('@sluice/')) {
    const target = partNamed(name);
    if (target === undefined) return 'there is no such package';
    if (specifier !== name) {
      const door = sideDoors[specifier];
      if (door === undefined) return `import ${name} through its index`;
      if (part !== door && !entry.isType && !isTest(path))
        return `only ${door} loads it; others may import its types`;
    }
    if (target !== part && !mayImport(path, part, target))
      return `${part} may not import ${target}`;
  }
  // The root's own tools are there for every package.
  const isDeclared = declared[part]?.has(name) === true || declared['.']?.has(name) === true;
  if (!isDeclared && !(entry.isType && declared[part]?.has(typesOf(name))))
    return `${name} is not in ${part}/package.json`;
  return packageFault(path, name, entry.isType);
}

/** A part of a package that is not in its index, and the one part that loads it. */
const sideDoors: Readonly<Record<string, string>> = {
  '@sluice/contracts/admin': 'services/control-plane',
  '@sluice/contracts/checks': 'packages/guardrails',
  '@sluice/guardrails/labelled': 'scripts',
  '@sluice/control-plane/first-keys': 'scripts',
  '@sluice/control-plane/migrate': 'scripts',
  '@sluice/control-plane/sections': 'scripts',
  '@sluice/control-plane/settings': 'scripts',
  '@sluice/data-service/measure-intake': 'scripts',
  '@sluice/data-service/measure-speed': 'scripts',
  '@sluice/data-service/migrate': 'scripts',
  '@sluice/data-service/settings': 'scripts',
  '@sluice/gateway/config-sync': 'scripts',
  '@sluice/gateway/owners': 'scripts',
  '@sluice/gateway/settings': 'scripts',
  '@sluice/gateway/vectors': 'scripts',
  '@sluice/proto-stubs/otlp': 'packages/otlp',
  // For programs that a test starts, which are no tests themselves.
  '@sluice/testkit/browser': 'services/gateway',
  '@sluice/testkit/own-time': 'packages/testkit',
};

function relativeFault(path: string, part: string, entry: SourceImport): string | undefined {
  const target = normalize(join(dirname(path), entry.specifier));
  if (!target.startsWith(`${part}/`)) return 'a relative import may not leave its package';
  return isTest(path) ? undefined : folderFault(path, target, part);
}

/** Types count: whoever reads a folder has to know what its types come from. */
function folderFault(path: string, target: string, part: string): string | undefined {
  const rules = folderRules[part];
  if (rules === undefined || target.startsWith(`${part}/src/generated/`)) return undefined;
  const [from, to] = [folderOf(path, part, rules), folderOf(target, part, rules)];
  // What stands beside the folders puts them together.
  if (from === undefined || to === undefined || isFile(from) || from === to) return undefined;
  if (rules[from] === undefined) return `${from} has no row in scripts/check/import-rules.ts`;
  if (reaches(rules, from, to)) return undefined;
  return isFile(to)
    ? `${from} may not import what stands above the folders`
    : `${from} may not import ${to}`;
}

/** The row that a file belongs to, or the folder or file directly in `src/` when there is none. */
function folderOf(path: string, part: string, rules: FolderRules): string | undefined {
  const top = `${part}/src/`;
  if (!path.startsWith(top)) return undefined;
  const names = path.slice(top.length).split('/');
  for (let length = names.length - 1; length > 0; length--) {
    const folder = names.slice(0, length).join('/');
    if (rules[folder] !== undefined) return folder;
  }
  return names[0];
}

function isFile(name: string): boolean {
  return name.endsWith('.ts');
}

function packageFault(path: string, name: string, isType: boolean): string | undefined {
  if (isTest(path)) return undefined;
  for (const rule of packageRules) {
    if (!rule.package.test(name)) continue;
    if (rule.forbiddenIn?.some((prefix) => path.startsWith(prefix))) return rule.because;
    const isElsewhere = rule.allowedIn?.some((pattern) => pattern.test(path)) === false;
    if (rule.inService === true && isServiceSource(path) && isElsewhere && !isType)
      return rule.because;
  }
  return undefined;
}

function mayImport(path: string, part: string, target: string): boolean {
  if (isTest(path) && testOnlyParts.includes(target)) return true;
  return reaches(partRules, part, target);
}

/** Arrows reach through: what a part's imports may import, it may import as well. */
function reaches(rules: FolderRules, from: string, to: string, seen = new Set<string>()): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  return (rules[from] ?? []).some((next) => next === to || reaches(rules, next, to, seen));
}

/** Types count: two files that need each other's to be read are one. */
function findCycles(files: readonly SourceFile[], paths: ReadonlySet<string>): string[] {
  const edges = new Map<string, string[]>();
  for (const file of files)
    edges.set(
      file.path,
      importsOf(file.text)
        .filter((entry) => entry.specifier.startsWith('.'))
        .map((entry) => normalize(join(dirname(file.path), entry.specifier)))
        .filter((target) => paths.has(target)),
    );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      cycles.push(`import cycle: ${[...trail.slice(at), path].join(' -> ')}`);
      return;
    }
    if (done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}

/** `packages/env/src/index.ts` → `packages/env`. */
export function partOf(path: string): string | undefined {
  const [top, second] = path.split('/');
  if (top === 'scripts') return 'scripts';
  return (top === 'packages' || top === 'services') && second !== undefined
    ? `${top}/${second}`
    : undefined;
}

function partNamed(name: string): string | undefined {
  const short = name.slice('@sluice/'.length);
  return [`packages/${short}`, `services/${short}`].find((part) => partRules[part] !== undefined);
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function typesOf(name: string): string {
  return `@types/${name.replace(/^@/, '').replace('/', '__')}`;
}

function isServiceSource(path: string): boolean {
  return /^services\/[^/]+\/src\//.test(path);
}

function isTest(path: string): boolean {
  return /\.test\.ts$/.test(path) || /\/(test|fixtures)\//.test(path);
}
