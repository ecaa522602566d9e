import { itemSpans, memberSpans } from '@sluice/json';
import type { McpResponse } from '../envelope/read-message.ts';
import type { ListKind } from '../lists/list-kinds.ts';

/**
 * One result of the items of several: each item with the bytes that it had. Members are asked and joined in the order of
 * the merged server, so that the order is the same each time (N14).
 * @param pages answers that were filtered and renamed already
 * @param idText of the caller's request
 */
export function joinPages(
  pages: readonly McpResponse[],
  { member }: ListKind,
  idText: string,
  { nextCursor, hints }: { nextCursor?: string; hints?: { ttlMs: number } },
): Buffer {
  const parts: Buffer[] = [
    Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":{${JSON.stringify(member)}:[`),
  ];
  let count = 0;
  for (const { bytes, resultStart } of pages) {
    const list = memberSpans(bytes, resultStart).findLast(({ key }) => key === member);
    for (const { start, end } of list === undefined ? [] : itemSpans(bytes, list.start)) {
      if (count++ > 0) parts.push(comma);
      parts.push(bytes.subarray(start, end));
    }
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
