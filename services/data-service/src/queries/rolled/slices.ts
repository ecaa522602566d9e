import type { EntryColumn } from '../entry-columns.ts';
import type { PartialName } from '../partials.ts';

/** By which columns hours and days are told apart, besides the workspace. A question that asks for no other is answered by them. */
export const slices = {
  all: [],
  target: ['provider', 'provider_slug', 'model'],
  key: ['api_key_id', 'user_id'],
  config: ['config_id', 'config_slug'],
  prompt: ['prompt_slug'],
  status: ['status_code', 'error_code', 'cache_status'],
  endpoint: ['endpoint'],
  tool: ['capability_name', 'provider', 'provider_slug'],
} as const satisfies Record<string, readonly EntryColumn[]>;

/** Where cells keep a column of their slice. The key of their table cannot grow, and a tool is told where values of metadata are. */
export function columnInCells(column: EntryColumn): string {
  return column === 'capability_name' ? 'metadata_value' : column;
}

export type SliceName = keyof typeof slices | typeof metadataSlice;

/** By key and value of metadata: entries with several count with each. */
export const metadataSlice = 'metadata';

/** Keys with more values than that in a unit are left out, and read from entries: an id of each request has no place in a roll-up. */
export const metadataValuesMax = { 60: 1000, 360: 2000, 1440: 50_000 } as const;

/** More keys than that, and all are left out: somebody writes values where keys belong. */
export const metadataKeysMax = 200;
export const everyKey = '*';

/** Minutes of the units that are rolled up, each a part of the next: what graphs of a week, a month and a year have as their buckets. */
export const unitWidths = [60, 360, 1440] as const;

export type UnitWidth = (typeof unitWidths)[number];

/** What other slices do not hold: who used each key, config and so on takes more room than all else of them. */
export const ofAllOnly: ReadonlySet<PartialName> = new Set(['users']);

export interface Slice {
  readonly name: SliceName;
  readonly metadataKey?: string;
}

/** What cells of every slice know. */
const ofEverySlice: ReadonlySet<EntryColumn> = new Set(['workspace_id', 'created_at', 'minute']);

/** The slice that knows these columns and partials; `metadataKeys` are all that are looked at. */
export function sliceWith(
  columns: readonly EntryColumn[],
  metadataKeys: readonly string[],
  names: readonly PartialName[],
): Slice | undefined {
  const isOfAll = names.some((name) => ofAllOnly.has(name));
  const asked = new Set(columns.filter((name) => !ofEverySlice.has(name)));
  const [metadataKey, ...others] = new Set([
    ...metadataKeys,
    ...(asked.delete('end_user') ? ['_user'] : []),
  ]);
  if (asked.delete('metadata') || metadataKey !== undefined)
    return asked.size === 0 && metadataKey !== undefined && others.length === 0 && !isOfAll
      ? { name: metadataSlice, metadataKey }
      : undefined;
  const found = (Object.keys(slices) as (keyof typeof slices)[]).find((name) => {
    const known: readonly EntryColumn[] = slices[name];
    if (isOfAll && known.length > 0) return false;
    return [...asked].every((column) => known.includes(column));
  });
  return found === undefined ? undefined : { name: found };
}
