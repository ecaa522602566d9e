import type { JsonObject, JsonValue } from '@sluice/contracts';
import { itemSpans, memberSpans } from '@sluice/json';
import { hasDoubledNames, isObject, type McpResponse } from '../envelope/read-message.ts';
import { McpFault, rpcCodes } from '../fault.ts';
import { type ItemFacts, type PageFacts, type PinMemory, pinOf } from '../pins/pin-of.ts';
import type { ListKind } from './list-kinds.ts';

/** One definition as the upstream lists it. */
export interface ListedItem {
  /** Its place in the list that came. */
  readonly index: number;
  readonly name: string;
  readonly definition: JsonObject;
  /** By `pinOf`. */
  readonly hash: string;
  readonly bytes: Buffer;
}

export interface ReadList {
  readonly items: readonly ListedItem[];
  /** Places of what is no definition, or could be read as several: without a name, a name twice, a member twice. */
  readonly unusable: readonly number[];
  readonly nextCursor: string | undefined;
  /** Where the list stands in the bytes of the reply, brackets included. */
  readonly start: number;
  readonly end: number;
}

/** One page. Whoever serves more of them at once serves nobody's model. */
const itemsMax = 10_000;
const nameLengthMax = 8192;

/**
 * Reads one page of a list.
 * @throws McpFault −32603 where it is none
 */
export function readList(reply: McpResponse, kind: ListKind, pins: PinMemory): ReadList {
  const { result, bytes } = reply;
  const { member } = kind;
  const values = result[member];
  if (!Array.isArray(values)) throw notAList(reply, `its result has no list of ${member}`);
  if (values.length > itemsMax)
    throw notAList(
      reply,
      `it listed ${values.length} ${member} in one answer, at most ${itemsMax} are read`,
    );
  const { start, end } = spanOf(reply, member);
  const list = bytes.subarray(start, end);
  const { items, unusable } = pins.page(member, list, () => readItems(list, values, kind));
  const { nextCursor } = result;
  return {
    items: items.map((facts) => listedItem(facts, values, list)),
    unusable,
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
    start,
    end,
  };
}

function listedItem(
  { index, name, hash, start, end }: ItemFacts,
  values: readonly JsonValue[],
  list: Buffer,
): ListedItem {
  const definition = values[index] as JsonObject;
  return { index, name, definition, hash, bytes: list.subarray(start, end) };
}

function readItems(list: Buffer, values: readonly JsonValue[], { field }: ListKind): PageFacts {
  const spans = itemSpans(list);
  // Most lists have none at all: one pass says so.
  const isCareless = hasDoubledNames(list, values as JsonValue);
  const items: ItemFacts[] = [];
  const unusable: number[] = [];
  const names = new Set<string>();
  for (const [index, definition] of values.entries()) {
    const span = spans[index];
    const name = nameOf(definition, field);
    const text = list.subarray(span?.start, span?.end);
    const isUsable =
      span !== undefined &&
      name !== undefined &&
      !names.has(name) &&
      !(isCareless && hasDoubledNames(text, definition));
    if (!isUsable) {
      unusable.push(index);
      continue;
    }
    names.add(name);
    items.push({ index, name, hash: pinOf(definition), start: span.start, end: span.end });
  }
  return { items, unusable };
}

function nameOf(definition: JsonValue, field: string): string | undefined {
  if (!isObject(definition)) return undefined;
  const name = definition[field];
  const isName =
    typeof name === 'string' && name !== '' && name.length <= nameLengthMax && name.isWellFormed();
  return isName ? name : undefined;
}

function spanOf(
  { bytes, resultStart }: McpResponse,
  member: string,
): { start: number; end: number } {
  // Of a doubled name the parser takes the last.
  const found = memberSpans(bytes, resultStart).findLast(({ key }) => key === member);
  return found ?? { start: resultStart, end: resultStart };
}

function notAList({ idText }: McpResponse, what: string): McpFault {
  return new McpFault({
    status: 200,
    code: rpcCodes.internalError,
    message: `The server's answer cannot be used: ${what}.`,
    idText,
  });
}
