import { GatewayError } from '@sluice/errors';

const newline = 0x0a;

/**
 * Lines of what flows, without their ends; never more is held than one of them and a piece.
 * @throws GatewayError `upstream.response_too_large` for one that is longer than `bytesMax`
 */
export async function* linesOf(
  content: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer, void> {
  let rest: Buffer[] = [];
  let held = 0;
  for await (const piece of content) {
    let from = 0;
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, from)) {
      const end = piece.subarray(from, at);
      from = at + 1;
      yield rest.length === 0 ? end : Buffer.concat([...rest, end]);
      rest = [];
      held = 0;
    }
    if (from === piece.length) continue;
    rest.push(piece.subarray(from));
    held += piece.length - from;
    if (held > bytesMax)
      throw new GatewayError('upstream.response_too_large', {
        message: `A line has more than ${bytesMax} bytes.`,
      });
  }
  if (held > 0) yield Buffer.concat(rest);
}
