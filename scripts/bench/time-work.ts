/**
 * µs of this thread's CPU per call in this process, for each of some rounds; the first calls only warm up. By the clock other
 * processes would be part of it: a match of 2.5 µs was told as 168 once.
 */
export function timeWork(quick: boolean, work: () => unknown): number[] {
  const roundMs = quick ? 100 : 400;
  spin(work, roundMs);
  return Array.from({ length: 9 }, () => spin(work, roundMs));
}

function spin(work: () => unknown, forMs: number): number {
  const startedAt = performance.now();
  const before = process.threadCpuUsage();
  let calls = 0;
  while (performance.now() - startedAt < forMs)
    for (let more = 0; more < 100; more += 1, calls += 1) results[calls & 7] = work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / calls;
}

/** Kept, so that no compiler finds the work to be without effect. */
const results: unknown[] = Array.from({ length: 8 });
