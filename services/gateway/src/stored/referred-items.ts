import { GatewayError } from '@sluice/errors';
import { isThoughtId, type JsonObject, type JsonValue, objectOf } from '@sluice/providers';
import { idsOf, itemsAnswered, keptUnder } from './kept-items.ts';
import type { KeptResponse, KeptStore } from './kept-store.ts';

/** Ids that are looked for at once, and responses that are read: the newest one was given what those before it answered. */
const idsMax = 200;
const readsMax = 16;
/** Of them together, but for the last one: as many as the largest one may have by default. */
const readBytesMax = 32 * 1024 * 1024;

/** Ids of the items that an input refers to. */
export function referencesIn(input: JsonValue | undefined): string[] {
  if (!Array.isArray(input)) return [];
  const ids = input.flatMap((item) => referenceOf(item) ?? []);
  return [...new Set(ids)];
}

function referenceOf(item: JsonValue): string | undefined {
  const object = objectOf(item);
  const isReference = object?.type === 'item_reference' && typeof object.id === 'string';
  return isReference ? String(object.id) : undefined;
}

/**
 * The request with the items that kept responses of the workspace answered, in the place of references to them. Clients refer so to what
 * was answered before, without saying by which response. What was found nowhere stays a reference, which only a provider may know.
 * @throws GatewayError `response.unavailable`
 */
export async function withReferred(
  json: JsonObject,
  context: readonly JsonObject[],
  workspaceId: string,
  store: KeptStore,
): Promise<JsonObject> {
  const { input } = json;
  const known = new Set(context.map(({ id }) => id));
  const missing = new Set(referencesIn(input).filter((id) => !known.has(id)));
  if (missing.size === 0 || !Array.isArray(input)) return json;
  const found = await find(missing, workspaceId, store);
  if (found.size === 0) return json;
  return {
    ...json,
    input: input.flatMap((item) => {
      const id = referenceOf(item);
      const referred = id === undefined ? undefined : found.get(id);
      return id === undefined || referred === undefined
        ? [item]
        : referred.map((one) => keptUnder(id, one));
    }),
  };
}

/** By id; none in place of a thought that only its provider could have kept. */
type Found = Map<string, JsonObject[]>;

async function find(missing: Set<string>, workspaceId: string, store: KeptStore): Promise<Found> {
  const found: Found = new Map();
  const read = new Set<string>();
  const isWanted = () => missing.size > 0 && (read.size === 0 || ![...missing].every(isThoughtId));
  let bytes = 0;
  while (isWanted() && read.size < readsMax && bytes < readBytesMax) {
    // The last ones were answered last.
    const ids = await store.responsesOf(workspaceId, [...missing].slice(-idsMax));
    const id = ids.find((one) => !read.has(one));
    if (id === undefined) break;
    read.add(id);
    const kept = await keptOrNone(store, workspaceId, id);
    bytes += kept?.bytes ?? 0;
    const said = itemsById(kept?.value);
    for (const one of missing) {
      const items = said.get(one);
      if (items === undefined) continue;
      found.set(one, items);
      missing.delete(one);
    }
  }
  // What is known of a thought the newest response was given: the others are lost.
  if (found.size > 0) for (const one of missing) if (isThoughtId(one)) found.set(one, []);
  return found;
}

/** Undefined = it was deleted meanwhile. */
async function keptOrNone(
  store: KeptStore,
  workspaceId: string,
  id: string,
): Promise<{ value: KeptResponse; bytes: number } | undefined> {
  try {
    return await store.findSized({ kind: 'response', workspaceId, id });
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'response.not_found') return undefined;
    throw error;
  }
}

/** What a response was given, and what it answered. */
function itemsById(kept: KeptResponse | undefined): Found {
  const found: Found = new Map();
  if (kept === undefined) return found;
  for (const item of kept.items)
    if (item.type !== 'item_reference') for (const id of idsOf(item)) found.set(id, [item]);
  for (const { id, item } of itemsAnswered(kept.response))
    if (typeof id === 'string') found.set(id, item === undefined ? [] : [item]);
  return found;
}
