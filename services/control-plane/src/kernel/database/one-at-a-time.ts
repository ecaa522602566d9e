import type { ClientBase } from 'pg';

type Query = (...args: unknown[]) => unknown;

/**
 * Gives a connection one statement after the other. In a transaction Prisma asks for what belongs to rows all at once, and `pg`
 * keeps a queue for that only until its next major version.
 */
export function oneAtATime(connection: ClientBase): void {
  const query = connection.query.bind(connection) as Query;
  let last: Promise<unknown> | undefined;
  connection.query = ((...args: unknown[]) => {
    const [first] = args;
    const isPromised =
      typeof args.at(-1) !== 'function' &&
      typeof (first as { submit?: unknown })?.submit !== 'function';
    // The pool's own, which gives no connection to two at a time.
    if (!isPromised) return query(...args);
    const answer = last === undefined ? query(...args) : last.then(() => query(...args));
    const ended = Promise.resolve(answer).then(
      () => {},
      () => {},
    );
    last = ended;
    void ended.then(() => {
      if (last === ended) last = undefined;
    });
    return answer;
  }) as ClientBase['query'];
}
