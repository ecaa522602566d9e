import type { HookCheck } from '@sluice/engine';
import { CheckError } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';
import { largeWork } from '../http/large-work.ts';
import type { CheckCompiler } from './check-compiler.ts';
import { withDeadline } from './deadline.ts';
import type { HookContext } from './hook-context.ts';
import type { CheckResult } from './hook-results.ts';
import { hasTime, isBusy, noteSpent } from './turn.ts';

export interface HookTools {
  readonly compiler: CheckCompiler;
  readonly checkDeadlineMs: number;
  /** What the checks of one event took so far, without their waits; absent = nobody counts. */
  readonly spending?: { ms: number };
}

/**
 * What all checks of one event may take together. A config may have ten thousand
 * of them: those that come too late could not decide, as any that is too slow.
 */
const spendingMaxMs = 1_000;

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
  if (isBusy()) await hasTime();
  if (context.largeOwner !== undefined) await largeWork.turn(context.largeOwner);
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
    if (tools.spending !== undefined && tools.spending.ms > spendingMaxMs) throw tooSlow();
    const pending = looked(check, context, tools);
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

/** What a check finds, or its promise; the time that it kept the event loop is noted. */
function looked(check: HookCheck, context: HookContext, tools: HookTools) {
  const startedAt = performance.now();
  try {
    return tools.compiler.get(check)(context);
  } finally {
    const ms = performance.now() - startedAt;
    noteSpent(ms);
    if (context.largeOwner !== undefined) largeWork.note(ms);
    if (tools.spending !== undefined) tools.spending.ms += ms;
  }
}

/** Since a reading of `performance.now()`, to a hundredth of a millisecond. */
export function elapsedMs(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}

function tooSlow(): Error {
  return new CheckError('DeadlineExceeded', 'The check took too long.');
}
