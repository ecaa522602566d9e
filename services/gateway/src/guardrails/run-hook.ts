import type { Hook, HookCheck } from '@sluice/engine';
import { isRequestFault } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';
import { HookBounds } from './hook-bounds.ts';
import type { HookContext } from './hook-context.ts';
import type { CheckResult, HookRanResult } from './hook-results.ts';
import { type CheckRun, elapsedMs, type HookTools, runCheck } from './run-check.ts';

export interface HookOutcome {
  readonly result: HookRanResult;
  /** What the hook's checks made of the document of this event, if anything. */
  readonly changed: JsonObject | undefined;
}

/**
 * Runs the checks of one hook and judges them together: a promise only where
 * something has to be waited for. Never throws or rejects.
 */
export function runHook(
  hook: Hook,
  context: HookContext,
  tools: HookTools,
): HookOutcome | Promise<HookOutcome> {
  const startedAt = performance.now();
  const bounds = new HookBounds(hook, context, startedAt);
  const enabled = hook.checks.filter((check) => check.isEnabled);
  const inOrder = hook.sequential || hook.type === 'mutator';
  const running = inOrder
    ? oneAfterAnother(enabled, context, tools, bounds)
    : allOf(enabled.map((check) => runCheck(check, context, tools, bounds)));
  return running instanceof Promise
    ? running.then((runs) => judged(hook, enabled, runs, context, startedAt))
    : judged(hook, enabled, running, context, startedAt);
}

/** A promise where one of them is. */
export function allOf<Value>(
  values: readonly (Value | Promise<Value>)[],
): Value[] | Promise<Value[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as Value[]);
}

function judged(
  hook: Hook,
  enabled: readonly HookCheck[],
  runs: readonly CheckRun[],
  context: HookContext,
  startedAt: number,
): HookOutcome {
  const checks = runs.map(({ result }) => result);
  // Side by side, each started from the original: the last one that changed it wins.
  const changed = runs.findLast((run) => run.changed !== undefined)?.changed;
  const verdict = checks.every((check) => isNoFailure(check, hook, context));
  const deny = hook.deny && !verdict;
  const result: HookRanResult = {
    id: hook.id,
    type: hook.type,
    verdict,
    transformed: changed !== undefined,
    checks,
    feedback: feedbackOf(hook, checks),
    execution_time: elapsedMs(startedAt),
    async: hook.async,
    created_at: context.createdAt,
    deny,
  };
  if (deny && isSoft(hook, enabled, checks, context)) result.soft_deny_200 = true;
  return { result, changed };
}

/** Whether the denial is told as an answer: the hook says so, or each check that failed. */
function isSoft(
  hook: Hook,
  checks: readonly HookCheck[],
  results: readonly CheckResult[],
  context: HookContext,
): boolean {
  return (
    hook.deniesSoftly ||
    checks.every(
      ({ deniesSoftly }, at) =>
        deniesSoftly || isNoFailure(results[at] as CheckResult, hook, context),
    )
  );
}

/** Each check sees what those before it made. */
async function oneAfterAnother(
  checks: readonly HookCheck[],
  context: HookContext,
  tools: HookTools,
  bounds: HookBounds,
): Promise<CheckRun[]> {
  const runs: CheckRun[] = [];
  let current = context;
  for (const check of checks) {
    const run = await runCheck(check, current, tools, bounds);
    if (run.changed !== undefined) current = withDocument(current, run.changed);
    runs.push(run);
  }
  return runs;
}

/** The context with another request, or another response, as the event is. */
export function withDocument(context: HookContext, document: JsonObject): HookContext {
  return context.event === 'beforeRequest'
    ? { ...context, request: document }
    : { ...context, response: document };
}

/**
 * A check that could not decide stops nothing, unless it is told to – or is
 * enforced, and it is the request's own doing: callers would only have to make
 * theirs long enough.
 */
function isNoFailure(
  { verdict, error, fail_on_error: failOnError }: CheckResult,
  { isEnforced }: Hook,
  { partWithinMs }: HookContext,
): boolean {
  if (verdict || error === undefined) return verdict;
  // A part need not have the texts that a check looks at: the next one may.
  if (partWithinMs !== undefined && error.name === 'NothingToCheck') return true;
  return !failOnError && !(isEnforced && isRequestFault(error.name));
}

/** Errors never make a feedback negative, whatever they do to the verdict. */
function feedbackOf(hook: Hook, checks: readonly CheckResult[]): HookRanResult['feedback'] {
  const failed = checks.filter(({ verdict, error }) => !verdict && error === undefined);
  const feedback = failed.length === 0 ? hook.onSuccess : hook.onFail;
  if (feedback === undefined) return null;
  return {
    value: feedback.value,
    weight: feedback.weight,
    metadata: {
      ...feedback.metadata,
      successfulChecks: idsOf(checks.filter(({ verdict }) => verdict)),
      failedChecks: idsOf(failed),
      erroredChecks: idsOf(checks.filter(({ error }) => error !== undefined)),
    },
  };
}

function idsOf(checks: readonly CheckResult[]): string {
  return checks.map(({ id }) => id).join(', ');
}
