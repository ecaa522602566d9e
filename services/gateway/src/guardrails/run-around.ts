import type { Hook } from '@sluice/engine';
import type { HookContext } from './hook-context.ts';
import type { HookResult, HookRun } from './hook-results.ts';
import { withDocument } from './run-hook.ts';

/** How a list of hooks is run; undefined = none of them is waited for. */
interface Runners {
  readonly run: (hooks: readonly Hook[], context: HookContext) => Promise<HookRun> | undefined;
  /** Without those that run beside the request: they ran. */
  readonly runAgain: (hooks: readonly Hook[], context: HookContext) => Promise<HookRun>;
}

/**
 * Enforced guardrails before a config's own hooks, which see what these left:
 * a hook of the caller's would tell others what they keep back. And once more
 * after them, where they changed something: one of the caller's could put back
 * what was taken out, or make words of what was none. In the results the own
 * come first, as published.
 */
export async function runAround(
  own: readonly Hook[],
  enforced: readonly Hook[],
  context: HookContext,
  { run, runAgain }: Runners,
): Promise<HookRun> {
  let first = (await run(enforced, context)) ?? nothingRan;
  if (first.denied) return joined(skipped(own), first, first);
  const guarded = changedBy(first) === undefined ? context : withChange(context, first);
  const ran = (await run(own, guarded)) ?? nothingRan;
  if (!ran.denied && changedBy(ran) !== undefined) {
    const again = await runAgain(enforced, withChange(guarded, ran));
    first = { ...again, failed: again.failed || first.failed };
    return joined(ran, first, changedBy(again) === undefined ? ran : again);
  }
  return joined(ran, first, changedBy(ran) === undefined ? first : ran);
}

function joined(own: HookRun, enforced: HookRun, last: HookRun): HookRun {
  return {
    results: [...own.results, ...enforced.results],
    failed: own.failed || enforced.failed,
    denied: own.denied || enforced.denied,
    request: last.request,
    response: last.response,
  };
}

function changedBy({ request, response }: HookRun) {
  return request ?? response;
}

function withChange(context: HookContext, run: HookRun): HookContext {
  const document = changedBy(run);
  return document === undefined ? context : withDocument(context, document);
}

function skipped(hooks: readonly Hook[]): HookRun {
  const results: HookResult[] = hooks
    .filter((hook) => !hook.async)
    .map(({ id, type }) => ({ id, type, skipped: true }));
  return { ...nothingRan, results };
}

const nothingRan: HookRun = {
  results: [],
  failed: false,
  denied: false,
  request: undefined,
  response: undefined,
};
