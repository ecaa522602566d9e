import type { Address, ResolveName } from './address.ts';
import type { Lookup } from './dns-lookup.ts';
import type { FairPlaces } from './fair-places.ts';

export interface NameResolverOptions {
  lookup: Lookup;
  places: FairPlaces;
  /** For one name in all: waiting for a place, and every question. */
  deadlineMs: number;
}

/**
 * Resolves names in fair places. Connections of one owner to one name share its
 * look-up; those of two owners do not, since one of them may have to wait in a
 * line of its own making. The answer is not kept: the next connection asks again.
 */
export function createNameResolver({
  lookup,
  places,
  deadlineMs,
}: NameResolverOptions): ResolveName {
  const underway = new Map<string, Promise<readonly Address[]>>();

  function run(hostname: string, owner: string): Promise<readonly Address[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Address[]>();
    const over = new AbortController();
    let isRunning = false;
    const leave = places.enter(owner, () => {
      isRunning = true;
      // The place is given back when the look-up really ends, which for a thread may be later.
      lookup(hostname, over.signal)
        .then(resolve, reject)
        .finally(() => leave());
    });
    const timer = setTimeout(() => {
      reject(tooSlow(deadlineMs));
      over.abort();
      if (!isRunning) leave();
    }, deadlineMs);
    return promise.finally(() => clearTimeout(timer));
  }

  return (hostname, owner) => {
    const key = `${hostname} ${owner}`;
    const known = underway.get(key);
    if (known !== undefined) return known;
    const answer = run(hostname, owner).finally(() => underway.delete(key));
    underway.set(key, answer);
    return answer;
  };
}

function tooSlow(deadlineMs: number): Error {
  return Object.assign(new Error(`The name was not resolved within ${deadlineMs} ms.`), {
    code: 'EAI_AGAIN',
  });
}
