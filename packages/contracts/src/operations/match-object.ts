import type { NamedObject, ObjectFacts, ObjectKind, ObjectOperation } from './operation.ts';
import {
  type CalledOperation,
  endpoints,
  type ObjectOperationId,
  objectOperations,
} from './operations.ts';
import { vendorCollections, vendorModels } from './vendor-collections.ts';

/** The operation that a path is the address of, and the segments that its row has names for. */
export interface MatchedObject {
  readonly operation: ObjectOperation & { readonly id: ObjectOperationId };
  readonly parameters: Readonly<Record<string, string>>;
}

/** What may stand before a path without changing what it means, as vendors' own clients have it. */
const roots = /^(?:proxy|openai|anthropic|api|beta|v\d[a-z0-9.]*)$/;

interface Node {
  readonly fixed: Map<string, Node>;
  varying: Node | undefined;
  /** So are all that follow: names of models have slashes. */
  takesRest: boolean;
  /** Of what the segment is the id. */
  kind: ObjectKind | undefined;
  readonly operations: Map<string, { operation: CalledOperation; names: string[] }>;
  /** What is known of calls that no row serves, by their method. */
  readonly passing: Map<string, ObjectFacts>;
  /** The same of whatever is below, and has nothing of its own. */
  below: ObjectFacts | undefined;
}

const newNode = (): Node => ({
  fixed: new Map(),
  varying: undefined,
  takesRest: false,
  kind: undefined,
  operations: new Map(),
  passing: new Map(),
  below: undefined,
});

const root = newNode();
const naming = endpoints.filter(({ objects }) => objects !== undefined);
for (const operation of [...objectOperations, ...naming]) {
  const [method = '', path = ''] = operation.at.split(' ');
  const names: string[] = [];
  const node = nodeAt(path, (varying, segment) => {
    names.push(segment.replace(/^:|\*$/g, ''));
    varying.takesRest ||= segment.endsWith('*');
    varying.kind ??= operation.objects?.names?.find(
      ({ at }) => at === `path.${segment.slice(1)}`,
    )?.kind;
  });
  node.operations.set(method, { operation, names });
}

for (const { at, objects } of vendorCollections) {
  const node = nodeAt(at);
  const { lists, makes, ...looked } = objects;
  node.passing.set('GET', { ...looked, lists });
  node.passing.set('POST', { ...looked, makes });
  node.varying ??= newNode();
  node.varying.kind ??= lists;
  node.below = looked;
}
for (const { at, objects } of vendorModels) nodeAt(at).passing.set('POST', objects);

/** The node of a path, made where there is none yet; hears of each segment of it that varies. */
function nodeAt(path: string, varies: (node: Node, segment: string) => void = () => {}): Node {
  let node = root;
  for (const segment of path.split('/').slice(2)) {
    if (segment.startsWith(':')) {
      node.varying ??= newNode();
      node = node.varying;
      varies(node, segment);
    } else {
      // Segments are looked up as the most lenient server would.
      const key = segment.toLowerCase();
      const next = node.fixed.get(key) ?? newNode();
      node.fixed.set(key, next);
      node = next;
    }
  }
  return node;
}

const segmentsMax = 16;

/**
 * The row of a call that passes through, read as the most lenient server would
 * read its path: empty segments do not count, letters may be escaped and in any
 * case. Undefined = no row knows it.
 */
export function matchObject(method: string, pathname: string): MatchedObject | undefined {
  const segments = readSegments(pathname);
  const found = segments === undefined ? undefined : match(segments, method);
  return found?.operation.about === 'object' ? (found as MatchedObject) : undefined;
}

/** What is known of a call that no row serves: what its endpoint makes and names, and the ids that its path begins with. */
export function objectsAt(
  method: string,
  pathname: string,
): {
  facts: ObjectFacts | undefined;
  ids: readonly { kind: ObjectKind; id: string; at: NamedObject['at'] }[];
} {
  const segments = readSegments(pathname);
  if (segments === undefined) return nothing;
  const ids: { kind: ObjectKind; id: string; at: NamedObject['at'] }[] = [];
  let node: Node | undefined = root;
  let below: ObjectFacts | undefined;
  for (const segment of segments) {
    const fixed: Node | undefined = node.fixed.get(segment.toLowerCase());
    below = node.below ?? below;
    const next: Node | undefined = fixed ?? node.varying;
    if (next !== undefined && fixed === undefined && next.kind !== undefined)
      ids.push({ kind: next.kind, id: segment, at: 'path.id' });
    if (next === undefined || next.takesRest) {
      node = next;
      break;
    }
    node = next;
  }
  const passing = node?.passing.get(method === 'HEAD' ? 'GET' : method);
  return { facts: match(segments, method)?.operation.objects ?? passing ?? below, ids };
}

const nothing = { facts: undefined, ids: [] };

function match(segments: readonly string[], method: string) {
  // `HEAD` is a look without its answer.
  return walk(root, segments, 0, method === 'HEAD' ? 'GET' : method, []);
}

interface Found {
  readonly operation: CalledOperation;
  readonly parameters: Readonly<Record<string, string>>;
}

function walk(
  node: Node,
  segments: readonly string[],
  at: number,
  method: string,
  values: readonly string[],
): Found | undefined {
  const segment = segments[at];
  if (segment === undefined) {
    const found = node.operations.get(method);
    if (found === undefined) return undefined;
    const { operation, names } = found;
    return {
      operation,
      parameters: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])),
    };
  }
  const next = node.fixed.get(segment.toLowerCase());
  const found = next === undefined ? undefined : walk(next, segments, at + 1, method, values);
  if (found !== undefined || node.varying === undefined) return found;
  if (node.varying.takesRest)
    return walk(node.varying, segments, segments.length, method, [
      ...values,
      segments.slice(at).join('/'),
    ]);
  return walk(node.varying, segments, at + 1, method, [...values, segment]);
}

/** A path without what may stand before it, and the version that did: `/openai/v1//chat/completions/` is `/chat/completions`. */
export interface BarePath {
  readonly path: string;
  /** The same by its slashes; a name may have some of its own, which were escaped. */
  readonly segments: readonly string[];
  readonly version: string | undefined;
}

/** Read as `matchObject` reads it. Undefined = nobody can. */
export function barePath(pathname: string): BarePath | undefined {
  const segments = splitPath(pathname);
  if (segments === undefined) return undefined;
  const bare = withoutRoots(segments);
  return {
    path: `/${bare.join('/')}`,
    segments: bare,
    version: segments
      .slice(0, segments.length - bare.length)
      .findLast((segment) => /^v\d/i.test(segment))
      ?.toLowerCase(),
  };
}

function readSegments(pathname: string): string[] | undefined {
  const segments = splitPath(pathname);
  return segments && withoutRoots(segments);
}

function splitPath(pathname: string): string[] | undefined {
  const segments: string[] = [];
  for (const raw of pathname.split('/', 4 * segmentsMax)) {
    if (raw === '') continue;
    if (segments.length === segmentsMax) return undefined;
    try {
      segments.push(raw.includes('%') ? decodeURIComponent(raw) : raw);
    } catch {
      return undefined;
    }
  }
  return segments;
}

function withoutRoots(segments: string[]): string[] {
  const from = segments.findIndex((segment) => !roots.test(segment.toLowerCase()));
  if (from < 0) return [];
  // Azure's addresses begin with the deployment that serves them.
  return segments.slice(segments[from]?.toLowerCase() === 'deployments' ? from + 2 : from);
}
