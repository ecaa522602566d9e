import { GatewayError } from '@sluice/errors';
import { objectOf, parseJson } from '../json/json-access.ts';

/** Makes a row of a vendor's out of a line; neither has a line end. Lines are counted from 1. */
export type RowMapper = (line: Uint8Array, lineNumber: number) => Uint8Array;

export interface RowRule {
  readonly mapper: RowMapper;
  /** What the file is said to be for, as far as that was said before it; undefined = nobody has said yet. */
  readonly purpose: string | undefined;
}

/** Bytes of one line: pictures may be in it. */
const lineBytesMax = 8 * 1024 * 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Lines of an OpenAI batch as a vendor's rows, one by one as they arrive; never
 * more than one line and one piece is held. What is no batch – by its purpose,
 * or where that is said behind the file by its first line – passes untouched, and
 * so do rows that are the vendor's already.
 * @throws GatewayError `request.invalid_field` with the number of the line
 */
export async function* rewriteRows(
  content: AsyncIterable<Buffer>,
  { mapper, purpose }: RowRule,
): AsyncGenerator<Buffer, void> {
  if (purpose !== undefined && purpose !== 'batch') {
    yield* content;
    return;
  }
  const lines = new Lines();
  /** As it came, until it is known what it is. */
  let unknown: Buffer[] | undefined = [];
  let unknownBytes = 0;
  let number = 0;
  let passes = false;
  const rewritten = (line: Buffer, rows: Buffer[]) => {
    if (isBlank(line)) return;
    rows.push(Buffer.from(mapper(line, number)), lineEnd);
  };
  for await (const piece of content) {
    if (passes) {
      yield piece;
      continue;
    }
    unknown?.push(piece);
    if (unknown !== undefined) unknownBytes += piece.length;
    const rows: Buffer[] = [];
    for (const line of lines.push(piece)) {
      number++;
      if (unknown !== undefined && !isBlank(line)) {
        passes = !isBatchLine(line, purpose);
        if (passes) break;
        unknown = undefined;
      }
      rewritten(line, rows);
    }
    const isTooLong = lines.held > lineBytesMax;
    if (!passes && (isTooLong || (unknown !== undefined && unknownBytes > lineBytesMax))) {
      if (unknown === undefined || purpose === 'batch') throw tooLong(number + 1);
      passes = true;
    }
    if (passes) {
      yield* unknown ?? [];
      unknown = undefined;
    } else if (rows.length > 0) yield Buffer.concat(rows);
  }
  if (passes) return;
  const last = lines.end();
  const rows: Buffer[] = [];
  number++;
  if (unknown !== undefined && !isBatchLine(last, purpose)) {
    yield* unknown;
    return;
  }
  rewritten(last, rows);
  if (rows.length > 0) yield Buffer.concat(rows);
}

const lineEnd = Buffer.from('\n');

/** Whether it is one of OpenAI's, or means to be. */
function isBatchLine(line: Buffer, purpose: string | undefined): boolean {
  const parsed = line.length > lineBytesMax ? undefined : parseJson(line);
  const row = objectOf(parsed);
  if (row === undefined) return purpose === 'batch' && !isBlank(line);
  return ['custom_id', 'url', 'body', 'method'].some((name) => Object.hasOwn(row, name));
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === carriageReturn);
}

function tooLong(number: number): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `line ${number}`,
    message: `line ${number} has more than ${lineBytesMax} bytes.`,
  });
}

/** Cuts pieces into lines. */
class Lines {
  #rest: Buffer[] = [];
  held = 0;

  *push(piece: Buffer): Generator<Buffer, void> {
    let from = 0;
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, from)) {
      const end = piece.subarray(from, at);
      from = at + 1;
      yield withoutReturn(this.#rest.length === 0 ? end : this.#take(end));
    }
    if (from === piece.length) return;
    this.#rest.push(piece.subarray(from));
    this.held += piece.length - from;
  }

  /** What no line end follows. */
  end(): Buffer {
    return withoutReturn(this.#take(Buffer.alloc(0)));
  }

  #take(end: Buffer): Buffer {
    const line = Buffer.concat([...this.#rest, end]);
    this.#rest = [];
    this.held = 0;
    return line;
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
}
