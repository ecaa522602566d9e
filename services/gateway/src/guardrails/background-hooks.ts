import type { Hook } from '@sluice/engine';
import { withDeadline } from './deadline.ts';
import type { EndedHook, HookContext } from './hook-context.ts';
import type { HookRanResult } from './hook-results.ts';
import type { HookTools } from './run-check.ts';
import { runHook } from './run-hook.ts';

export interface AsyncHookReport extends EndedHook {
  readonly context: HookContext;
}

export interface BackgroundLimits {
  /** Each holds a request and its reply in memory. */
  readonly runningMax: number;
  readonly hookDeadlineMs: number;
}

/** Runs hooks beside the request. Nothing they do reaches it, not even its end. */
export class BackgroundHooks {
  readonly #tools: HookTools;
  readonly #limits: BackgroundLimits;
  readonly #onReport: (report: AsyncHookReport) => void;
  #running = 0;

  constructor(
    tools: HookTools,
    limits: BackgroundLimits,
    onReport: (report: AsyncHookReport) => void,
  ) {
    this.#tools = tools;
    this.#limits = limits;
    this.#onReport = onReport;
  }

  start(hook: Hook, context: HookContext): void {
    if (this.#running >= this.#limits.runningMax) {
      this.#report(hook, context, undefined, 'capacity');
      return;
    }
    this.#running++;
    // Checks without waiting would otherwise run before the request goes on.
    setImmediate(() => void this.#run(hook, context));
  }

  async #run(hook: Hook, given: HookContext): Promise<void> {
    const { hookDeadlineMs } = this.#limits;
    // The caller's leaving ends the request, not the look at it.
    const context = { ...given, signal: AbortSignal.timeout(hookDeadlineMs) };
    let result: HookRanResult | undefined;
    try {
      const running = runHook(hook, context, { ...this.#tools, spending: { ms: 0 } });
      const outcome = Promise.resolve(running);
      ({ result } = await withDeadline(outcome, hookDeadlineMs, () => new Error('deadline')));
    } catch {
      // A hook never throws: only the deadline does, and the report says so.
    }
    this.#running--;
    this.#report(hook, context, result, result === undefined ? 'deadline' : undefined);
  }

  #report(
    hook: Hook,
    context: HookContext,
    result: HookRanResult | undefined,
    lostTo: AsyncHookReport['lostTo'],
  ): void {
    this.#onReport({ context, hookId: hook.id, result, lostTo });
  }
}
