import type { Readable, Stream } from 'node:stream';
import { text } from 'node:stream/consumers';

/** For `parse` of a test call: the body as what is made of its whole text. */
export function readAs(read: (text: string) => unknown) {
  return (answer: Stream, done: (error: Error | null, body: unknown) => void): void => {
    text(answer as Readable)
      .then((body) => {
        Object.assign(answer, { text: body });
        return read(body);
      })
      .then(
        (value) => done(null, value),
        (error: Error) => done(error, undefined),
      );
  };
}
