import { StoreError } from './object-store.ts';

/**
 * Does the work for each in turn, also past those for which the store refuses it: what it refuses today it refuses tomorrow, and all
 * behind that would wait for ever.
 * @throws whatever else goes wrong, at once; else, in the end, the first refusal
 */
export async function eachPastRefusals<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let refusal: unknown;
  for await (const item of items)
    try {
      await work(item);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal ??= error;
    }
  if (refusal !== undefined) throw refusal;
}

/** Also where somebody told it in words of their own. */
function isRefusal(error: unknown): boolean {
  const fault = error instanceof Error && error.cause instanceof StoreError ? error.cause : error;
  return fault instanceof StoreError && !fault.isAway;
}
