import { GatewayError } from '@sluice/errors';

const newline = 0x0a;

/** A line that is longer than lines may be, heard as it passes. */
export interface LongLine {
  add(piece: Buffer): void;
}

/**
 * Lines of what flows, without their ends; never more is held than one of them and a piece.
 * One that is longer than `bytesMax` is what `openLong` gives, once it has heard all of it.
 * @throws GatewayError `upstream.response_too_large` for such a line where nobody hears it
 */
export async function* linesOf<Long extends LongLine = never>(
  content: AsyncIterable<Buffer>,
  bytesMax: number,
  openLong: () => Long = tooLong(bytesMax),
): AsyncGenerator<Buffer | Long, void> {
  let rest: Buffer[] = [];
  let held = 0;
  let long: Long | undefined;
  for await (const piece of content) {
    let from = 0;
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, from)) {
      const end = piece.subarray(from, at);
      from = at + 1;
      long?.add(end);
      yield long ?? (rest.length === 0 ? end : Buffer.concat([...rest, end]));
      long = undefined;
      rest = [];
      held = 0;
    }
    if (from === piece.length) continue;
    const begun = piece.subarray(from);
    if (long !== undefined) {
      long.add(begun);
      continue;
    }
    rest.push(begun);
    held += begun.length;
    if (held <= bytesMax) continue;
    long = openLong();
    for (const heldPiece of rest) long.add(heldPiece);
    rest = [];
  }
  if (long !== undefined) yield long;
  else if (held > 0) yield Buffer.concat(rest);
}

const tooLong = (bytesMax: number) => (): never => {
  throw new GatewayError('upstream.response_too_large', {
    message: `A line has more than ${bytesMax} bytes.`,
  });
};
