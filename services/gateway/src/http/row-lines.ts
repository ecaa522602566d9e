import { avroLines, isAvro } from '@sluice/providers';
import { type LongLine, linesOf } from './lines-of.ts';

/**
 * Rows of a vendor's results, each a line of JSON: lines as they come, or those of a file of Avro.
 * One that is longer than `bytesMax` is what `openLong` gives, once it has heard all of it.
 * @throws GatewayError `upstream.response_too_large` for a block of Avro that is longer than `bytesMax`
 */
export async function* rowLines<Long extends LongLine>(
  content: AsyncIterable<Buffer>,
  bytesMax: number,
  openLong: () => Long,
): AsyncGenerator<Buffer | Long, void> {
  const pieces = content[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  let isOver = false;
  while (!isOver && isAvro(start) === undefined) {
    const next = await pieces.next();
    isOver = next.done === true;
    if (next.done !== true) start = Buffer.concat([start, next.value]);
  }
  async function* all() {
    yield start;
    while (!isOver) {
      const next = await pieces.next();
      if (next.done === true) return;
      yield next.value;
    }
  }
  try {
    yield* isAvro(start) === true
      ? avroLines(all(), { rowBytesMax: bytesMax })
      : linesOf(all(), bytesMax, openLong);
  } finally {
    await pieces.return?.();
  }
}
