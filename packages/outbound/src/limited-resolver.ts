import { GatewayError } from '@sluice/errors';
import type { Address } from './guarded-connect.ts';

export interface ResolverOptions {
  lookup: (hostname: string) => Promise<readonly Address[]>;
  runningMax: number;
  waitingMax: number;
}

/**
 * Resolves names, a few at a time. Connections to one name share its look-up, so
 * that one slow name holds one place. A place is given back only when the look-up
 * really ends, since a look-up cannot be cancelled; who waits has a deadline of
 * its own. The answer is not kept: the next connection asks again.
 */
export function createResolver({
  lookup,
  runningMax,
  waitingMax,
}: ResolverOptions): (hostname: string) => Promise<readonly Address[]> {
  const underway = new Map<string, Promise<readonly Address[]>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function run(hostname: string): Promise<readonly Address[]> {
    // A finished look-up hands its place to the first who waits, so the count stays as it is.
    if (running < runningMax) running += 1;
    else await new Promise<void>((turn) => waiting.push(turn));
    try {
      return await lookup(hostname);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return (hostname) => {
    const known = underway.get(hostname);
    if (known !== undefined) return known;
    if (running >= runningMax && waiting.length >= waitingMax) {
      const detail = { reason: 'too many names wait to be resolved' };
      return Promise.reject(new GatewayError('upstream.unreachable', { detail }));
    }
    const answer = run(hostname).finally(() => underway.delete(hostname));
    underway.set(hostname, answer);
    return answer;
  };
}
