import type { JsonObject } from '@sluice/contracts';
import { itemSpans, memberSpans } from '@sluice/json';
import { isObject, type McpResponse } from '../envelope/read-message.ts';
import type { ListKind } from '../lists/list-kinds.ts';

/** A list that members have, and that is joined of theirs. */
export type JoinedKind = Pick<ListKind, 'method' | 'member'> & { readonly field: string };

/** One definition of a member's page, with the bytes that it has there. */
export interface PageItem {
  readonly name: string;
  readonly definition: JsonObject;
  readonly bytes: Buffer;
}

/** What stands on a page that was filtered already. What has no name is left out. */
export function itemsOfPage(
  page: McpResponse,
  { member, field }: Pick<JoinedKind, 'member' | 'field'>,
): PageItem[] {
  const { bytes, resultStart, result } = page;
  const list = memberSpans(bytes, resultStart).findLast(({ key }) => key === member);
  const values = result[member];
  if (list === undefined || !Array.isArray(values)) return [];
  return itemSpans(bytes, list.start).flatMap(({ start, end }, index) => {
    const definition = values[index];
    const name = isObject(definition) ? definition[field] : undefined;
    if (!isObject(definition) || typeof name !== 'string') return [];
    return [{ name, definition, bytes: bytes.subarray(start, end) }];
  });
}

/**
 * One result of items of several members, each with the bytes that it has: in the order of the merged server, so that it
 * is the same each time (N14).
 * @param idText of the caller's request
 */
export function joinItems(
  items: readonly Buffer[],
  { member }: Pick<JoinedKind, 'member'>,
  idText: string,
  { nextCursor, hints }: { nextCursor?: string | undefined; hints?: { ttlMs: number } | undefined },
): Buffer {
  const parts: Buffer[] = [
    Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":{${JSON.stringify(member)}:[`),
  ];
  for (const [at, item] of items.entries()) {
    if (at > 0) parts.push(comma);
    parts.push(item);
  }
  const cursor = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
  const modern =
    hints === undefined
      ? ''
      : `,"resultType":"complete","cacheScope":"private","ttlMs":${hints.ttlMs}`;
  parts.push(Buffer.from(`]${cursor}${modern}}}`));
  return Buffer.concat(parts);
}

const comma = Buffer.from(',');
