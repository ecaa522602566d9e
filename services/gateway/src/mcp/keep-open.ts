import { setTimeout as delay } from 'node:timers/promises';
import { McpFault } from '@sluice/mcp';

const againMs = 1_000;
const againMsMax = 30_000;

/** Runs it again when it has ended, until the signal. What is refused for good is not asked again. */
export async function keepOpen(over: AbortSignal, run: () => Promise<void>): Promise<void> {
  for (let waitMs = againMs; !over.aborted; waitMs = Math.min(againMsMax, waitMs * 2)) {
    const startedAt = performance.now();
    try {
      await run();
    } catch (error) {
      if (error instanceof McpFault && isForGood(error.status)) return;
    }
    if (performance.now() - startedAt > againMsMax) waitMs = againMs;
    await delay(waitMs, undefined, { signal: over, ref: false }).catch(() => undefined);
  }
}

function isForGood(status: number): boolean {
  return status === 400 || status === 405 || status === 409;
}
