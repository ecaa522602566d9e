/** µs per call in this process, for each of some rounds; the first calls only warm up. */
export function timeWork(quick: boolean, work: () => unknown): number[] {
  const roundMs = quick ? 100 : 400;
  spin(work, roundMs);
  return Array.from({ length: 9 }, () => spin(work, roundMs));
}

function spin(work: () => unknown, forMs: number): number {
  const startedAt = performance.now();
  let calls = 0;
  let elapsedMs = 0;
  for (; elapsedMs < forMs; elapsedMs = performance.now() - startedAt)
    for (let more = 0; more < 100; more += 1, calls += 1) results[calls & 7] = work();
  return (elapsedMs * 1000) / calls;
}

/** Kept, so that no compiler finds the work to be without effect. */
const results: unknown[] = Array.from({ length: 8 });
