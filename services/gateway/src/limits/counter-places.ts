import { type Counter, counterName, type Epoch, type Limit, overflowGroup } from '@sluice/engine';
import { sharedKeys } from '../redis/shared-keys.ts';
import { ScopedMap } from './scoped-map.ts';
import { keepUntilMs } from './settle-queue.ts';

/** What is sent of a counter with each request that asks it, put together once for each epoch. */
export interface CounterPlace {
  /** Its name in the epoch tells the group, too. */
  readonly limit: Limit;
  readonly keys: readonly string[];
  /** Of a group: what else must be at hand where it may have no counter. */
  readonly ofGroup: readonly string[] | undefined;
  /** Under which it is counted where there is no room for it. */
  readonly sharedName: string;
  readonly flags: string;
  /** Start and end of its epoch, and when it may be forgotten. */
  readonly times: string;
  /** It was there when it was last heard of. */
  hasCounter: boolean;
}

const placesMax = 20_000;

export class CounterPlaces {
  readonly #places = new ScopedMap<CounterPlace>();

  of(scope: string, counter: Counter, epoch: Epoch, name: string): CounterPlace {
    const known = this.#places.get(scope, name);
    // A limit that was changed may have other rules.
    if (known?.limit === counter.limit) return known;
    if (this.#places.size >= placesMax) this.#places.clear();
    const place = placeOf(scope, counter, epoch, name);
    this.#places.set(scope, name, place);
    return place;
  }
}

function placeOf(scope: string, counter: Counter, epoch: Epoch, name: string): CounterPlace {
  const { limit, group } = counter;
  const isRequests = limit.type === 'requests';
  // Of requests nothing is held: they are counted when they come.
  const keysOf = (of: string) => {
    const hash = sharedKeys.limit(scope, of);
    return isRequests ? [hash] : [hash, sharedKeys.limitHeld(scope, of)];
  };
  const sharedName = counterName({ limit, group: overflowGroup }, epoch.name);
  return {
    limit,
    keys: keysOf(name),
    ofGroup:
      group === ''
        ? undefined
        : [...keysOf(sharedName), sharedKeys.limitGroups(scope, `${limit.id}@${epoch.name}`)],
    sharedName,
    flags: `${isRequests ? 'q' : '-'}${limit.rules.isShadow ? 's' : ''}`,
    times: `${epoch.startMs} ${epoch.endMs} ${keepUntilMs({ epoch, counter })}`,
    hasCounter: false,
  };
}
