import { type Counter, counterName, type Epoch, type Limit, overflowGroup } from '@sluice/engine';
import { sharedKeys } from '../redis/shared-keys.ts';
import { wireWord } from '../redis/wire-command.ts';
import { ScopedMap } from './scoped-map.ts';
import { keepUntilMs } from './settle-queue.ts';

/** Keys as they are sent. */
interface PlaceKeys {
  readonly count: number;
  readonly wire: string;
}

/** What is sent of a counter with each request that asks it, put together once for each epoch. */
export interface CounterPlace {
  readonly limit: Limit;
  readonly epoch: Epoch;
  /** It tells the epoch and the group, too. */
  readonly name: string;
  readonly keys: PlaceKeys;
  /** Of a group: what else must be at hand where it may have no counter. */
  readonly ofGroup: PlaceKeys | undefined;
  /** Under which it is counted where there is no room for it. */
  readonly sharedName: string;
  readonly flags: string;
  /** The limit, start and end of its epoch, and when it may be forgotten. */
  readonly bounds: string;
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
  const pool = sharedKeys.limitGroups(scope, `${limit.id}@${epoch.name}`);
  const keep = keepUntilMs({ epoch, counter });
  return {
    limit,
    epoch,
    name,
    keys: placeKeys(keysOf(name)),
    ofGroup: group === '' ? undefined : placeKeys([...keysOf(sharedName), pool]),
    sharedName,
    flags: `${isRequests ? 'q' : '-'}${limit.span.kind === 'budget' ? 'p' : ''}${limit.rules.isShadow ? 's' : ''}`,
    bounds: `${limit.value} ${epoch.startMs} ${epoch.endMs} ${keep}`,
    hasCounter: false,
  };
}

function placeKeys(keys: readonly string[]): PlaceKeys {
  return { count: keys.length, wire: keys.map(wireWord).join('') };
}
