import type { FairPlaces } from './fair-places.ts';

export interface PlaceTerms {
  places: FairPlaces;
  /** Of all owners together; who comes on top is refused at once. */
  waitingAllMax: number;
  /** How long anybody waits for a place. */
  patienceMs: number;
  /** What who gets no place is told. */
  refusal: () => Error;
}

/** Work that holds one of the owner's places until it ends, whatever comes of it. */
export async function withPlace<T>(
  { places, waitingAllMax, patienceMs, refusal }: PlaceTerms,
  owner: string,
  work: () => Promise<T>,
): Promise<T> {
  if (places.waiting >= waitingAllMax) throw refusal();
  let leave = () => {};
  try {
    await new Promise<void>((begin, refuse) => {
      const timer = setTimeout(() => refuse(refusal()), patienceMs);
      const begun = () => {
        clearTimeout(timer);
        begin();
      };
      try {
        leave = places.enter(owner, begun);
      } catch {
        clearTimeout(timer);
        refuse(refusal());
      }
    });
    return await work();
  } finally {
    leave();
  }
}
