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

/** A log as it stands in a segment: `[length of the head u32][head, JSON][bodies]`. */
export class EncodedLog {
  /** Of all of it. */
  readonly length: number;
  readonly #head: string;
  readonly #headLength: number;
  readonly #bodies: KeptContent['bodies'];

  constructor(content: KeptContent, rules: HeaderRules) {
    this.#head = JSON.stringify(headOf(content, rules));
    this.#headLength = Buffer.byteLength(this.#head);
    this.#bodies = content.bodies;
    let length = 4 + this.#headLength;
    for (const name of bodyNames) length += this.#bodies[name]?.length ?? 0;
    this.length = length;
  }

  writeTo(target: Buffer, at: number): void {
    target.writeUInt32LE(this.#headLength, at);
    target.write(this.#head, at + 4);
    let end = at + 4 + this.#headLength;
    for (const name of bodyNames) {
      const body = this.#bodies[name];
      if (body === undefined) continue;
      for (const piece of body.pieces) {
        target.set(piece, end);
        end += piece.length;
      }
    }
  }

  /** A segment of its own. */
  toBuffer(): Buffer {
    const buffer = Buffer.allocUnsafe(this.length);
    this.writeTo(buffer, 0);
    return buffer;
  }
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
