import { pipeline, type Readable, Transform } from 'node:stream';
import type { ModelExchange } from '../exchange/exchange.ts';

/** A body that flows through unread: what it was is guessed from its size where the answer tells no usage. */
export function countedBody({ arrival, subject }: ModelExchange): Readable {
  const body = arrival.bodyStream();
  const length = arrival.headers['content-length'];
  subject.unreadBytes = Number(length ?? 0);
  if (length !== undefined) return body;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      subject.unreadBytes = (subject.unreadBytes ?? 0) + chunk.length;
      done(null, chunk);
    },
  });
  // Either side's end is the other's; who sends it hears of errors.
  return pipeline(body, counting, () => {});
}
