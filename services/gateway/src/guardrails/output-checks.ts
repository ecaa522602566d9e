import { hash } from 'node:crypto';
import type { Hook } from '@sluice/engine';
import type { VisitHooks } from '../compiled/enforced-guardrails.ts';

/** To be raised when the meaning of a check changes: what was kept before was checked otherwise. */
const meaning = 2;

const identities = new WeakMap<VisitHooks, string>();

/**
 * Names what looks at the answers of a target: the same for the same checks
 * with the same parameters, whatever their ids and whatever config says so.
 * Empty where nothing does. Computed once for a compiled config.
 */
export function outputChecks(hooks: VisitHooks | undefined): string {
  if (hooks === undefined) return '';
  const known = identities.get(hooks);
  if (known !== undefined) return known;
  const lists = [hooks.own?.afterRequest ?? [], hooks.enforced?.afterRequest ?? []];
  // Parameters can hold credentials: nothing but the hash is kept.
  const identity = lists.every((list) => list.length === 0)
    ? ''
    : hash('sha256', JSON.stringify([meaning, lists.map((list) => list.map(said))]), 'hex');
  identities.set(hooks, identity);
  return identity;
}

/** What of a hook decides about answers. */
function said(hook: Hook): unknown[] {
  const { type, deny, async, sequential, timeoutMs = 0, textLengthMax = 0, checks } = hook;
  return [
    type,
    deny,
    async,
    sequential,
    timeoutMs,
    textLengthMax,
    checks.flatMap(({ id, parameters, isEnabled }) => (isEnabled ? [[id, parameters]] : [])),
  ];
}
