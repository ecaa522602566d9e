import type { JsonObject } from '@sluice/contracts';
import type { FileAnswer } from '../vendor-files.ts';

/** A vendor's own refusal, which is the caller's answer. */
export class VendorRefusal extends Error {
  readonly status: number;
  /** When to come again, and how much is left. */
  readonly headers: FileAnswer['headers'];
  readonly bytes: Buffer;

  constructor({ status, headers }: Omit<FileAnswer, 'bytes'>, bytes: Buffer) {
    super(`the vendor answered ${status}`);
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }
}

/** What callers know a file by. `purpose` as it was sent, where the vendor keeps none. */
export interface FileFacts {
  readonly id: string;
  readonly bytes: number;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status?: 'uploaded' | 'processed' | 'error';
}

/** OpenAI's file object: https://platform.openai.com/docs/api-reference/files/object */
export function fileObject({ id, bytes, createdAt, filename, purpose, status }: FileFacts) {
  return {
    id,
    object: 'file',
    bytes,
    created_at: createdAt,
    filename,
    purpose,
    status: status ?? 'processed',
  } satisfies JsonObject;
}

export function deletedFile(id: string): JsonObject {
  return { id, object: 'file', deleted: true };
}

/** Unix seconds of what vendors write as a date; 0 = they do not. */
export function secondsOf(date: unknown): number {
  const ms = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

/** Counts what passes. */
export function counted(content: AsyncIterable<Buffer>): {
  content: AsyncIterable<Buffer>;
  bytes: () => number;
} {
  let bytes = 0;
  async function* pass() {
    for await (const piece of content) {
      bytes += piece.length;
      yield piece;
    }
  }
  return { content: pass(), bytes: () => bytes };
}

/** The content in blocks of exactly so many bytes, but for the last one. None is empty, unless all is. */
export async function* inBlocks(
  content: AsyncIterable<Buffer>,
  blockBytes: number,
): AsyncGenerator<Buffer, void> {
  let pieces: Buffer[] = [];
  let held = 0;
  for await (const piece of content) {
    let rest = piece;
    while (rest.length > 0) {
      if (held === blockBytes) {
        yield Buffer.concat(pieces, held);
        pieces = [];
        held = 0;
      }
      const taken = rest.subarray(0, blockBytes - held);
      pieces.push(taken);
      held += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
  yield Buffer.concat(pieces, held);
}
