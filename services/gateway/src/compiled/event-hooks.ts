import type { Hook } from '@sluice/engine';
import { checkKinds } from '@sluice/guardrails';
import type { EnforcedGuardrails, VisitHooks } from './enforced-guardrails.ts';

/** A guardrail as it looks at calls of tools and agents: which model is asked, and how, is no question of theirs. */
export function eventHook(hook: Hook): Hook[] {
  const checks = hook.checks.filter(({ id }) => {
    const judges = checkKinds.get(id)?.judges;
    return judges === 'texts' || judges === 'call';
  });
  return checks.length === 0 ? [] : [{ ...hook, checks }];
}

const known = new WeakMap<EnforcedGuardrails, VisitHooks | undefined>();

/** Those of what is enforced that look at such calls; undefined = none does. Made once. */
export function eventHooks(enforced: EnforcedGuardrails): VisitHooks | undefined {
  if (!known.has(enforced)) known.set(enforced, makeHooks(enforced));
  return known.get(enforced);
}

function makeHooks(enforced: EnforcedGuardrails): VisitHooks | undefined {
  const beforeRequest = enforced.beforeRequest.flatMap(eventHook);
  const afterRequest = enforced.afterRequest.flatMap(eventHook);
  if (beforeRequest.length + afterRequest.length === 0) return undefined;
  return { own: undefined, enforced: { ...enforced, beforeRequest, afterRequest } };
}
