import {
  type CheckResult,
  type HookRanResult,
  type HookResult,
  type HookRun,
  hasRun,
} from '../hook-results.ts';

/** What the looks at one stream come to, as if each hook had run once. */
export class StreamResults {
  failed = false;
  #results: HookResult[] = [];

  get results(): readonly HookResult[] {
    return this.#results;
  }

  /** A further look by the same hooks, or by those with the checks that had to wait. */
  add({ results, failed }: Pick<HookRun, 'results' | 'failed'>): void {
    if (failed) this.failed = true;
    const known = new Map(this.#results.map((result, at) => [result.id, at]));
    for (const result of results) {
      const at = known.get(result.id);
      const before = at === undefined ? undefined : this.#results[at];
      if (at === undefined || before === undefined) this.#results.push(result);
      else if (hasRun(before) && hasRun(result)) this.#results[at] = joined(before, result);
    }
  }
}

function joined(before: HookRanResult, after: HookRanResult): HookRanResult {
  const checks = before.checks.slice();
  for (const check of after.checks) {
    const at = checks.findIndex(({ id }) => id === check.id);
    const known = checks[at];
    if (known === undefined) checks.push(check);
    else checks[at] = told(known, check);
  }
  const feedback = before.verdict && !after.verdict ? after.feedback : before.feedback;
  return {
    ...before,
    verdict: before.verdict && after.verdict,
    deny: before.deny || after.deny,
    transformed: before.transformed || after.transformed,
    execution_time: rounded(before.execution_time + after.execution_time),
    feedback,
    checks,
  };
}

/** The look that says most: the first that failed, then the first that changed something. */
function told(before: CheckResult, after: CheckResult): CheckResult {
  const says = weight(after) > weight(before) ? after : before;
  return { ...says, execution_time: rounded(before.execution_time + after.execution_time) };
}

function weight({ verdict, error, transformed }: CheckResult): number {
  if (error?.name === 'NothingToCheck') return 0;
  if (!verdict) return error === undefined ? 4 : 3;
  return transformed ? 2 : 1;
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
