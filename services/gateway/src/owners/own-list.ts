import { barePath, namedResources, type ObjectKind } from '@sluice/contracts';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';
import { objectFactsOf } from './object-facts.ts';
import { objectId } from './object-id.ts';

/** Of so many items in one reply somebody can be asked whose they are. */
export const listedMax = 1_000;
/** A page that is asked for: OpenAI's files have 10,000 where nothing is said. */
const pageMax = 100;

/** What of a target's reply is narrowed to the workspace's own; undefined = it lists nothing, or everything is shown. */
export function narrowedKind(
  exchange: Pick<ModelExchange, 'subject' | 'arrival'>,
  { saved }: Pick<Target, 'saved'>,
): ObjectKind | undefined {
  return saved?.narrowsLists === true ? objectFactsOf(exchange)?.lists : undefined;
}

/** The query with pages of at most a hundred. */
export function boundedSearch(search: string, kind: ObjectKind, pathname: string): string {
  const query = new URLSearchParams(search);
  const asked = query.getAll('limit');
  // Google's pages have a hundred at most, and it knows no `limit`.
  const isShort = kind !== 'file' || barePath(pathname)?.version === 'v1beta';
  const isBounded = asked.length === 0 ? isShort : !(Number(asked.at(-1)) > pageMax);
  if (isBounded && asked.length < 2) return search;
  query.set('limit', isBounded ? (asked.at(-1) ?? '') : String(pageMax));
  return `?${query}`;
}

/** A target's path with the cursor of its next page. */
export function atCursor(path: string, { name, id }: ListCursor): string {
  const [at = '', ...search] = path.split('?');
  const query = new URLSearchParams(search.join('?'));
  query.set(name, id);
  return `${at}?${query}`;
}

export interface ListCursor {
  readonly name: 'after' | 'after_id';
  readonly id: string;
}

/** One page of a list, as a provider sent it. */
export interface ListPage {
  /** Of its items, as they are noted. */
  readonly ids: ReadonlySet<string>;
  /** Undefined = it is the last one, or does not say. */
  readonly next: ListCursor | undefined;
  /** The page with these items alone; undefined = that is what it is. */
  only(own: ReadonlySet<string>): Buffer | undefined;
}

/** OpenAI's and Anthropic's lists, others with their items in whichever member, and bare arrays; undefined = it is none of these. */
export function readPage(bytes: Buffer, kind: ObjectKind): ListPage | undefined {
  const document = parsed(bytes);
  const lists = Array.isArray(document) ? [document] : Object.values(document ?? {});
  const items = lists.filter((list) => Array.isArray(list)).flat() as unknown[];
  // Of an empty list some servers say that there is none.
  if (document === undefined || (!lists.some(Array.isArray) && !isNoList(document)))
    return undefined;
  const idOf = (item: unknown): string | undefined => {
    if (!isRecord(item)) return undefined;
    const id = item.id ?? (namedResources.has(kind) ? item.name : undefined);
    return typeof id === 'string' ? objectId(kind, id) : undefined;
  };
  return {
    ids: new Set(items.flatMap((item) => idOf(item) ?? [])),
    next: cursorOf(document),
    only(own) {
      const isOwn = (item: unknown) => own.has(idOf(item) ?? '');
      const isPlain = !lists.some(isRecord);
      if (isPlain && items.every(isOwn)) return undefined;
      const kept = Array.isArray(document)
        ? document.filter(isOwn)
        : Object.fromEntries(
            Object.entries(document)
              // Whatever else it holds may be of anybody.
              .filter(([, value]) => !isRecord(value))
              .map(([name, value]) => [name, Array.isArray(value) ? value.filter(isOwn) : value]),
          );
      return Buffer.from(JSON.stringify(kept));
    },
  };
}

function parsed(bytes: Buffer): Record<string, unknown> | unknown[] | undefined {
  try {
    const value = readJson(bytes, jsonBounds.reply);
    return Array.isArray(value) || isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function isNoList(document: Record<string, unknown> | unknown[]): boolean {
  return !Array.isArray(document) && document.data === null;
}

/** As OpenAI's API has it, and Anthropic's, whose lists do not say that they are lists. */
function cursorOf(document: Record<string, unknown> | unknown[]): ListCursor | undefined {
  if (Array.isArray(document) || document.has_more !== true) return undefined;
  const { data, last_id: told, object } = document;
  const last: unknown = Array.isArray(data) ? data.at(-1) : undefined;
  const id = told ?? (isRecord(last) ? last.id : undefined);
  if (typeof id !== 'string' || id === '') return undefined;
  return { name: object === 'list' ? 'after' : 'after_id', id };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
