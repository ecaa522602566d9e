import { shownHeaders } from '@sluice/log-content';
import { type BodyName, bodyNames, type ContentHead, type KeptContent } from './kept-content.ts';

/** What stands in a segment before the bodies of a log: nothing that may not be kept. */
export interface SegmentHead extends Omit<ContentHead, 'requestHeaders' | 'responseHeaders'> {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly serviceHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseTimeMs: number;
  /** In the order of `bodyNames`: the length here, and what it was in all; null = there is no such body. */
  readonly sizes: readonly (readonly [length: number, total: number] | null)[];
}

export interface SegmentEntry {
  readonly head: SegmentHead;
  readonly bodies: Readonly<Partial<Record<BodyName, Buffer>>>;
}

export interface HeaderRules {
  /** Of all requests; those that a request names are added. */
  readonly sensitive: readonly string[];
  readonly hash: (value: string) => string;
}

/** `[length of the head u32][head, JSON][bodies]`, one log after the other. */
export function encodeSegment(contents: readonly KeptContent[], rules: HeaderRules): Buffer {
  const pieces: Buffer[] = [];
  for (const content of contents) {
    const head = Buffer.from(JSON.stringify(headOf(content, rules)));
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32LE(head.length);
    pieces.push(length, head);
    for (const name of bodyNames) {
      const body = content.bodies[name];
      if (body !== undefined) pieces.push(...body.pieces);
    }
  }
  return Buffer.concat(pieces);
}

function headOf(content: KeptContent, rules: HeaderRules): SegmentHead {
  const { head, bodies, responseTimeMs } = content;
  const sensitive = sensitiveOf(head.requestHeaders['x-service-sensitive-headers'], rules);
  const request = shownHeaders(head.requestHeaders, sensitive, rules.hash);
  const response = shownHeaders(head.responseHeaders, sensitive, rules.hash);
  return {
    ...head,
    requestHeaders: request.headers,
    serviceHeaders: request.serviceHeaders,
    responseHeaders: { ...response.headers, ...response.serviceHeaders },
    responseTimeMs,
    sizes: bodyNames.map((name) => {
      const body = bodies[name];
      return body === undefined ? null : [body.length, body.totalLength];
    }),
  };
}

const nobody: ReadonlySet<string> = new Set();

function sensitiveOf(
  named: string | string[] | undefined,
  { sensitive }: HeaderRules,
): ReadonlySet<string> {
  if (named === undefined && sensitive.length === 0) return nobody;
  const names = [...sensitive, ...String(named ?? '').split(',')];
  // A bracketed, quoted list is taken as well, as other lists in headers are.
  return new Set(names.map((name) => name.replace(/[[\]"'\s]/g, '').toLowerCase()));
}

/** The logs of a segment, as far as it was written: what a kill cut off is not among them. */
export function* entriesOf(segment: Buffer): Generator<SegmentEntry> {
  let at = 0;
  while (at + 4 <= segment.length) {
    const headEnd = at + 4 + segment.readUInt32LE(at);
    if (headEnd > segment.length) return;
    const head = readHead(segment.subarray(at + 4, headEnd));
    if (head === undefined) return;
    at = headEnd;
    const bodies: Partial<Record<BodyName, Buffer>> = {};
    for (const [index, name] of bodyNames.entries()) {
      const size = head.sizes[index];
      if (size === null || size === undefined) continue;
      const end = at + size[0];
      if (end > segment.length) return;
      bodies[name] = segment.subarray(at, end);
      at = end;
    }
    yield { head, bodies };
  }
}

function readHead(bytes: Buffer): SegmentHead | undefined {
  try {
    return JSON.parse(bytes.toString('utf8')) as SegmentHead;
  } catch {
    // The disk lost what the file system had promised: what follows cannot be found.
    return undefined;
  }
}
