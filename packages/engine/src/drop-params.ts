import type { JsonObject } from '@sluice/contracts';
import { configFault } from './config-fault.ts';

/** A parsed path of `drop_params`: names, indexes, or every entry of an array. */
export type DropPath = readonly (string | number | typeof everyEntry)[];

export const everyEntry = Symbol('[*]');

const partsMax = 32;

/**
 * Reads `a`, `a.b.c`, `a[0].b`, `a[*].b[*].c`.
 * @throws GatewayError `config.invalid` naming `field`
 */
export function parseDropPath(text: string, field: string): DropPath {
  const parts: (string | number | typeof everyEntry)[] = [];
  let rest = text;
  while (rest !== '') {
    const part = (parts.length === 0 ? firstName : nextPart).exec(rest);
    if (part === null || parts.length >= partsMax)
      throw configFault(field, 'must be a path such as a.b, a[0].b or a[*].b');
    const [whole, name, index] = part;
    parts.push(name ?? (index === '*' ? everyEntry : Number(index)));
    rest = rest.slice(whole.length);
  }
  if (parts.length === 0) throw configFault(field, 'must not be empty');
  return parts;
}

const firstName = /^([^.[\]]+)()/;
const nextPart = /^(?:\.([^.[\]]+)|\[(\d{1,9}|\*)\])/;

/** Stands for a removed array entry until all paths were followed, so that indexes stay original. */
const removed = Symbol('removed');

type Container = Record<string, unknown> | unknown[];

/**
 * The body without what the paths name; the same object when nothing was
 * there. What is changed is copied first: the caller's body stays as it is.
 */
export function dropParams(paths: readonly DropPath[], json: JsonObject): JsonObject {
  const copies = new Map<Container, Container>();
  const sparse = new Set<unknown[]>();
  let root: Container = json;
  for (const path of paths)
    if (exists(path, 0, root)) {
      root = writable(root, copies);
      remove(path, 0, root, copies, sparse);
    }
  for (const entries of sparse)
    entries.splice(0, entries.length, ...entries.filter((entry) => entry !== removed));
  return root as JsonObject;
}

function exists(path: DropPath, at: number, value: unknown): boolean {
  if (at === path.length) return true;
  const part = path[at];
  if (typeof value !== 'object' || value === null) return false;
  if (part === everyEntry)
    return (
      Array.isArray(value) &&
      value.some((entry) => entry !== removed && exists(path, at + 1, entry))
    );
  if (typeof part === 'number')
    return (
      Array.isArray(value) &&
      part < value.length &&
      value[part] !== removed &&
      exists(path, at + 1, value[part])
    );
  return (
    typeof part === 'string' &&
    !Array.isArray(value) &&
    Object.hasOwn(value, part) &&
    exists(path, at + 1, (value as Record<string, unknown>)[part])
  );
}

/** `container` is ours to change, and `exists` said that the path leads somewhere. */
function remove(
  path: DropPath,
  at: number,
  container: Container,
  copies: Map<Container, Container>,
  sparse: Set<unknown[]>,
): void {
  const isLast = at === path.length - 1;
  for (const key of keysAt(path, at, container)) {
    if (isLast && Array.isArray(container)) {
      container[key as number] = removed;
      sparse.add(container);
    } else if (isLast) {
      delete (container as Record<string, unknown>)[key];
    } else {
      const holder = container as Record<string | number, unknown>;
      const inner = writable(holder[key] as Container, copies);
      holder[key] = inner;
      remove(path, at + 1, inner, copies, sparse);
    }
  }
}

function keysAt(path: DropPath, at: number, container: Container): (string | number)[] {
  const part = path[at];
  if (typeof part === 'string' || typeof part === 'number') return [part];
  return (container as unknown[]).flatMap((entry, index) =>
    entry !== removed && exists(path, at + 1, entry) ? [index] : [],
  );
}

/** The copy made for this body, or a fresh one. */
function writable(container: Container, copies: Map<Container, Container>): Container {
  const known = copies.get(container);
  if (known !== undefined) return known;
  const copy: Container = Array.isArray(container) ? [...container] : { ...container };
  copies.set(container, copy);
  // A copy met again is already ours.
  copies.set(copy, copy);
  return copy;
}
