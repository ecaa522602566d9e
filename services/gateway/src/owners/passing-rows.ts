import type { NamedObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { PassingTexts } from '@sluice/json';
import type { NamedObjects } from '../exchange/named-objects.ts';
import { idLengthMax, NamedIds } from './ids-in-request.ts';

type Ids = NamedObjects['ids'];

/** Six bytes an escaped character. */
const textBytesMax = 6 * idLengthMax;
const newline = 0x0a;
const openObject = 0x7b;
/** Of the mark that some editors begin a file with. */
const mark: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf]);

/**
 * What the rows of a file name, found while its bytes pass: a JSON object a
 * line. Holds the text that is being read, and no row.
 */
export class PassingRows {
  readonly #names: readonly NamedObject[];
  readonly #texts: PassingTexts;
  readonly #others: 'refused' | 'passed';
  #line = 1;
  #hasBegun = false;
  /** The rest of the line is none of a row. */
  #isPassed = false;

  /**
   * @param names where a row is looked at; `body` is its member
   * @param others what becomes of lines that are no JSON objects: a file that goes up need not have rows
   */
  constructor(names: readonly NamedObject[], others: 'refused' | 'passed' = 'refused') {
    this.#names = names;
    this.#others = others;
    this.#texts = new PassingTexts(
      names.map(({ at }) => at.split('.')),
      textBytesMax,
    );
  }

  /** Each once, with the line that names it. @throws GatewayError for a row that is no JSON object */
  add(chunk: Buffer): Ids {
    const found = new NamedIds(Number.POSITIVE_INFINITY);
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      this.#read(chunk, from, end, found);
      this.#endRow();
      from = end + 1;
    }
    this.#read(chunk, from, chunk.length, found);
    return found.ids;
  }

  /** Of the last row, which need not end in a line end. @throws GatewayError the same */
  end(): void {
    this.#endRow();
  }

  #read(chunk: Buffer, start: number, end: number, found: NamedIds): void {
    if (this.#isPassed) return;
    let from = start;
    if (!this.#hasBegun) {
      while (from < end && this.#isNothing(chunk[from] as number)) from++;
      if (from === end) return;
      if (chunk[from] !== openObject) {
        this.#refuse();
        return;
      }
      this.#hasBegun = true;
    }
    for (const { path, text } of this.#texts.add(chunk.subarray(from, end))) {
      const name = this.#names[path] as NamedObject;
      const at = name.at === '**' ? `line ${this.#line}` : `line ${this.#line}.${name.at}`;
      found.add({ ...name, at }, text ?? ' '.repeat(idLengthMax + 1));
    }
    if (this.#texts.isBroken) this.#refuse();
  }

  #isNothing(byte: number): boolean {
    return byte <= 0x20 || (this.#line === 1 && mark.has(byte));
  }

  #endRow(): void {
    const isWhole = this.#texts.next();
    if (this.#hasBegun && !isWhole) this.#refuse();
    this.#hasBegun = false;
    this.#isPassed = false;
    this.#line++;
  }

  #refuse(): void {
    if (this.#others === 'passed') {
      this.#isPassed = true;
      return;
    }
    throw new GatewayError('request.malformed_json', {
      field: `line ${this.#line}`,
      message: `line ${this.#line} is no JSON object, and may name what other workspaces keep at the provider.`,
    });
  }
}

/** A file on its way: a piece is passed on when all that its rows name may be named. `judge` throws for what may not. */
export async function* watchedRows(
  content: AsyncIterable<Buffer>,
  names: readonly NamedObject[],
  judge: (ids: Ids) => Promise<void>,
): AsyncGenerator<Buffer, void> {
  const rows = new PassingRows(names, 'passed');
  for await (const piece of content) {
    const ids = rows.add(piece);
    if (ids.length > 0) await judge(ids);
    yield piece;
  }
}
