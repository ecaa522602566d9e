import type { Socket } from 'node:net';
import { Client } from 'pg';

type Query = (...args: unknown[]) => unknown;

/**
 * A connection that is given one statement after the other. In a transaction Prisma asks for what belongs to rows all at once, and
 * `pg` keeps a queue for that only until its next major version.
 *
 * One whose server did not answer in time is cut: whoever rolls back on it, or asks for something else, would wait as long once more.
 */
export class OneAtATimeClient extends Client {
  #last: Promise<void> | undefined;

  override query = ((...args: unknown[]) => {
    const [first] = args;
    const ask: Query = () => (super.query as Query)(...args);
    // The pool's own, which gives no connection to two at a time.
    if (
      typeof args.at(-1) === 'function' ||
      typeof (first as SubmittedQuery)?.submit === 'function'
    )
      return ask();
    const answer = this.#last === undefined ? ask() : this.#last.then(ask);
    const ended = Promise.resolve(answer).then(
      () => {},
      (error: unknown) => {
        if (isReadTimeout(error)) this.#cut();
      },
    );
    this.#last = ended;
    void ended.then(() => {
      if (this.#last === ended) this.#last = undefined;
    });
    return answer;
  }) as Client['query'];

  /** An orderly end would wait for the server as well. */
  #cut(): void {
    (this as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
  }
}

/** As `pg` says it, in a text alone. */
function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

interface SubmittedQuery {
  readonly submit?: unknown;
}
