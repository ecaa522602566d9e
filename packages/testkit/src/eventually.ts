import { setTimeout as delay } from 'node:timers/promises';
import { waitMs } from './patience.ts';

/** A look that hung says nothing of what the next one costs. */
const restMsMax = 500;

/**
 * Polls until `check` neither throws nor returns `false`, and returns its value. Between two looks it
 * rests at least as long as a look takes: a question that is dear must not be asked without a pause.
 * @throws the last error of `check` when the deadline passes.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<Exclude<T, false>> {
  const timeoutMs = options.timeoutMs ?? waitMs;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    const lookedAt = performance.now();
    try {
      const value = await check();
      if (value !== false) return value as Exclude<T, false>;
      failure = new Error(`The condition did not hold within ${timeoutMs} ms.`);
    } catch (error) {
      failure = error;
    }
    if (Date.now() >= deadline) throw failure;
    const tookMs = Math.min(performance.now() - lookedAt, restMsMax);
    await delay(Math.max(options.intervalMs ?? 25, tookMs));
  }
}
