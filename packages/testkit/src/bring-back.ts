/**
 * What tests take away and bring back: parts of an installation, servers, relays. A test that fails before it has
 * brought something back would take its own next goes, and all tests after it, with it; so what is known here is
 * brought back for it (`bring-back-after-failure.ts`).
 */
const ways = new Set<() => Promise<unknown>>();

/**
 * @param way  Does nothing where all is there.
 * @returns forgets it, when what it brings back ends for good
 */
export function knowHowToBringBack(way: () => Promise<unknown>): () => void {
  ways.add(way);
  return () => void ways.delete(way);
}

/** What cannot come back is for the next test to say. */
export async function bringAllBack(): Promise<void> {
  await Promise.allSettled([...ways].map((way) => way()));
}

/** At the end of a file, which leaves nothing to the next one. */
export function forgetAll(): void {
  ways.clear();
}
