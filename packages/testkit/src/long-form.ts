/**
 * `npm run test:long`, and the other commands whose tests have a long form, ask for all of a table; the suite
 * (`npm test`) goes a short way of it, through the same tests.
 */
export const isLongForm = process.env.SLUICE_LONG_FORM === 'true';

/**
 * Cases of one kind: all in the long form, in the suite every so manieth and one at least. Tables beside each
 * other give their own place as `turn`, so that each takes others, and all are met by some.
 */
export function inTurns<T>(cases: readonly T[], oneOf: number, turn = 0): T[] {
  const step = isLongForm ? 1 : Math.max(1, Math.min(oneOf, cases.length));
  return cases.filter((_, at) => (at + turn) % step === 0);
}

/**
 * Each of some with each of others in the long form; in the suite no more pairs than that every one of both is met.
 * Tables beside each other give their own place as `turn`.
 */
export function eachWith<A, B>(some: readonly A[], others: readonly B[], turn = 0): [A, B][] {
  const isPair = (at: number, other: number) =>
    some.length >= others.length
      ? (at + turn) % others.length === other
      : (other + turn) % some.length === at;
  return some.flatMap((one, at) =>
    others.flatMap((two, other): [A, B][] => (isLongForm || isPair(at, other) ? [[one, two]] : [])),
  );
}
