import type { HookCheck } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { CheckCompiler } from './check-compiler.ts';
import { CheckError } from './checks/check.ts';
import { withDeadline } from './deadline.ts';
import type { HookContext } from './hook-context.ts';
import type { CheckResult } from './hook-results.ts';

export interface HookTools {
  readonly compiler: CheckCompiler;
  readonly checkDeadlineMs: number;
}

export interface CheckRun {
  readonly result: CheckResult;
  /** What the check made of the document of this event; undefined when it left it alone. */
  readonly changed: JsonObject | undefined;
}

/** Runs one check. Never throws: a check that does so has an error in its result. */
export async function runCheck(
  check: HookCheck,
  context: HookContext,
  tools: HookTools,
): Promise<CheckRun> {
  const startedAt = performance.now();
  const result: CheckResult = {
    id: check.id,
    verdict: false,
    data: null,
    execution_time: 0,
    transformed: false,
    created_at: new Date(context.nowMs).toISOString(),
    log: null,
    fail_on_error: check.parameters.failOnError === true,
  };
  let changed: JsonObject | undefined;
  try {
    const pending = tools.compiler.get(check)(context);
    const outcome =
      pending instanceof Promise
        ? await withDeadline(pending, tools.checkDeadlineMs, tooSlow)
        : pending;
    changed = context.event === 'beforeRequest' ? outcome.request : outcome.response;
    result.verdict = outcome.verdict;
    result.data = outcome.data;
    result.transformed = changed !== undefined;
  } catch (error) {
    result.error =
      error instanceof Error
        ? { name: error.name, message: error.message }
        : { name: 'Error', message: String(error) };
  }
  result.execution_time = elapsedMs(startedAt);
  return { result, changed };
}

/** Since a reading of `performance.now()`, to a hundredth of a millisecond. */
export function elapsedMs(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}

function tooSlow(): Error {
  return new CheckError('DeadlineExceeded', 'The check took too long.');
}
