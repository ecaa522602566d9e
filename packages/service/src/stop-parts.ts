import type { Part } from './part.ts';

export interface StopDeadlines {
  /** What requests under way get. */
  drainMs: number;
  /** What one part gets to close. */
  partMs: number;
  /** What all of them get. */
  allMs: number;
}

/** The least that a part gets when others have used the time up: enough to write what it holds. */
const lastMs = 250;

/**
 * Drains all parts at once, then closes them one by one, the last first. One
 * that fails or hangs does not keep the others, and the records they hold, from the disk.
 * @returns what could not be drained or closed
 */
export async function stopParts(
  parts: readonly Part[],
  { drainMs, partMs, allMs }: StopDeadlines,
): Promise<unknown[]> {
  const faults: unknown[] = [];
  // Listeners cut what is left at the deadline themselves: a little more is given to them for that.
  const attempt = async (part: Part, step: 'drain' | 'stop', ms: number, patienceMs: number) => {
    try {
      await within(part[step]?.(ms), patienceMs);
    } catch (cause) {
      faults.push(new Error(`${part.name} could not ${step}`, { cause }));
    }
  };
  await Promise.all(parts.map((part) => attempt(part, 'drain', drainMs, drainMs + lastMs)));
  const deadlineAt = performance.now() + allMs;
  for (const part of parts.toReversed()) {
    const leftMs = Math.max(lastMs, Math.min(partMs, deadlineAt - performance.now()));
    await attempt(part, 'stop', leftMs, leftMs + lastMs);
  }
  return faults;
}

async function within(work: unknown, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
