import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';

/**
 * What it does before and after stands in one place. Returns a reply or throws; never writes to the socket. One that
 * waits for nothing returns what `next` does; one that waits awaits it: a promise that is returned from an `async`
 * function unawaited takes three turns of the microtasks in place of one.
 */
export type Stage = (exchange: Exchange, next: () => Promise<Reply>) => Promise<Reply>;

/** Stages in order, the first one outermost. Built once at start. */
export function pipeline(stages: readonly Stage[]): (exchange: Exchange) => Promise<Reply> {
  return (exchange) => {
    try {
      return run(stages, 0, exchange);
    } catch (error) {
      // Stages that wait for nothing throw at once.
      return Promise.reject(error);
    }
  };
}

function run(stages: readonly Stage[], index: number, exchange: Exchange): Promise<Reply> {
  const stage = stages[index];
  if (stage === undefined) throw new Error('the last stage must answer');
  return stage(exchange, () => run(stages, index + 1, exchange));
}
