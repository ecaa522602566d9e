import type { IncomingHttpHeaders } from 'node:http';
import { Metadata } from '@grpc/grpc-js';
import type { ReplyHeaders } from '../exchange/reply.ts';
import { hopByHop } from '../http/connection-headers.ts';

/** Of several, Node takes the first of these, and joins the others. */
const single: ReadonlySet<string> = new Set([
  'authorization',
  'from',
  'max-forwards',
  'referer',
  'user-agent',
]);

/**
 * A call's metadata as the headers of a request. What is binary (`…-bin`), and
 * what belongs to the call itself, is no header.
 */
export function headersOf(metadata: Metadata, host: string): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(metadata.getMap())) {
    if (hopByHop.has(name) || name.startsWith('grpc-') || name.endsWith('-bin')) continue;
    const [first, ...more] = metadata.get(name).map(String);
    if (first === undefined || name === '__proto__') continue;
    headers[name] = single.has(name) ? first : [first, ...more].join(', ');
  }
  headers['content-type'] = 'application/json';
  if (host !== '') headers.host = host;
  return headers;
}

/** What the trailing metadata of one call may have; clients of many languages end calls by more than 8 KiB. */
const trailingBytesMax = 7 * 1024;

/** What HTTP/2 adds to each name and value, in the counting of receivers. */
const entryBytes = 32;

/**
 * A reply's headers as trailing metadata: those of ours first, so that what does
 * not fit any more is the provider's. Lengths and encodings of the body have no
 * meaning there.
 */
export function trailingOf(headers: Readonly<ReplyHeaders>, prefixes: readonly string[]): Metadata {
  const metadata = new Metadata();
  const isOurs = (name: string) => prefixes.some((prefix) => name.startsWith(prefix));
  const names = Object.keys(headers);
  const ordered = [...names.filter(isOurs), ...names.filter((name) => !isOurs(name))];
  let left = trailingBytesMax;
  for (const given of ordered) {
    const name = given.toLowerCase();
    if (!/^[0-9a-z_.-]+$/.test(name) || isOfTransport(name)) continue;
    for (const value of [headers[given] ?? []].flat()) {
      const text = plainText(value);
      left -= name.length + text.length + entryBytes;
      if (left >= 0) metadata.add(name, text);
    }
  }
  return metadata;
}

function isOfTransport(name: string): boolean {
  return (
    hopByHop.has(name) ||
    name.startsWith('grpc-') ||
    name.endsWith('-bin') ||
    name === 'content-type' ||
    name === 'content-encoding'
  );
}

/** Metadata is printable ASCII: what is not is left out, as at its ends spaces are. */
function plainText(value: string): string {
  return String(value)
    .replace(/[^\x20-\x7e]/g, '')
    .trim();
}
