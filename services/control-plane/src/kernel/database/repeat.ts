import type { Logger } from '@sluice/telemetry';

/**
 * Runs work now and then, until it is stopped; a run that is under way is told by the signal, and waited for.
 * @param intervalMs  between the end of one run and the next; 0 = never
 */
export function repeat(
  what: string,
  work: (signal: AbortSignal) => Promise<void>,
  { intervalMs, logger }: { intervalMs: number; logger: Logger },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const schedule = (): void => {
    if (intervalMs === 0 || stopping.signal.aborted) return;
    timer = setTimeout(() => {
      running = work(stopping.signal).catch((error: unknown) =>
        logger.warn({ err: error }, `${what} failed, and is tried again later`),
      );
      void running.then(schedule);
    }, intervalMs);
  };
  schedule();
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
