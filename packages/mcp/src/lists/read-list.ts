import type { JsonObject, JsonValue } from '@sluice/contracts';
import { itemSpans, type JsonSpan, memberSpans } from '@sluice/json';
import { hasDoubledNames, isObject, type McpResponse } from '../envelope/read-message.ts';
import { McpFault, rpcCodes } from '../fault.ts';
import type { PinMemory } from '../pins/pin-of.ts';
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
}

/** One page. Whoever serves more of them at once serves nobody's model. */
const itemsMax = 10_000;
const nameLengthMax = 8192;

/**
 * Reads one page of a list.
 * @throws McpFault −32603 where it is none
 */
export function readList(
  reply: McpResponse,
  { member, field }: ListKind,
  pins: PinMemory,
): ReadList {
  const { result, bytes } = reply;
  const values = result[member];
  if (!Array.isArray(values)) throw notAList(reply, `its result has no list of ${member}`);
  if (values.length > itemsMax)
    throw notAList(
      reply,
      `it listed ${values.length} ${member} in one answer, at most ${itemsMax} are read`,
    );
  const spans = spansOf(bytes, member);
  // Most lists have none at all: one pass says so.
  const isCareless = hasDoubledNames(bytes, reply.document);
  const items: ListedItem[] = [];
  const unusable: number[] = [];
  const names = new Set<string>();
  for (const [index, definition] of values.entries()) {
    const { start, end } = spans[index] as JsonSpan;
    const text = bytes.subarray(start, end);
    const name = nameOf(definition, field);
    const isUsable =
      name !== undefined && !names.has(name) && !(isCareless && hasDoubledNames(text, definition));
    if (!isUsable) {
      unusable.push(index);
      continue;
    }
    names.add(name);
    const hash = pins.pinOf(text, definition);
    items.push({ index, name, definition: definition as JsonObject, hash, bytes: text });
  }
  const { nextCursor } = result;
  return { items, unusable, nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined };
}

function nameOf(definition: JsonValue, field: string): string | undefined {
  if (!isObject(definition)) return undefined;
  const name = definition[field];
  const isName =
    typeof name === 'string' && name !== '' && name.length <= nameLengthMax && name.isWellFormed();
  return isName ? name : undefined;
}

function spansOf(bytes: Buffer, member: string): JsonSpan[] {
  const result = memberSpans(bytes).find(({ key }) => key === 'result');
  // Of a doubled name the parser takes the last.
  const list = result && memberSpans(bytes, result.start).findLast(({ key }) => key === member);
  return list === undefined ? [] : itemSpans(bytes, list.start);
}

function notAList({ idText }: McpResponse, what: string): McpFault {
  return new McpFault({
    status: 200,
    code: rpcCodes.internalError,
    message: `The server's answer cannot be used: ${what}.`,
    idText,
  });
}
