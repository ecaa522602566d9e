import { setTimeout as delay } from 'node:timers/promises';

/**
 * Polls until `check` neither throws nor returns `false`, and returns its value.
 * @throws the last error of `check` when the deadline passes.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const timeoutMs = options.timeoutMs ?? 5000;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await check();
      if (value !== false) return value;
      failure = new Error(`The condition did not hold within ${timeoutMs} ms.`);
    } catch (error) {
      failure = error;
    }
    if (Date.now() >= deadline) throw failure;
    await delay(options.intervalMs ?? 25);
  }
}
