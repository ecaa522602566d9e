import { hash } from 'node:crypto';
import type { Hook, TargetHooks } from '@sluice/engine';

/** To be raised when the meaning of a check changes: what was kept before was checked otherwise. */
const meaning = 1;

const identities = new WeakMap<readonly Hook[], string>();

/**
 * Names what looks at the answers of a target: the same for the same checks
 * with the same parameters, whatever their ids and whatever config says so.
 * Empty where nothing does. Computed once for a compiled config.
 */
export function outputChecks(hooks: TargetHooks | undefined): string {
  if (hooks === undefined || hooks.afterRequest.length === 0) return '';
  const known = identities.get(hooks.afterRequest);
  if (known !== undefined) return known;
  // Parameters can hold credentials: nothing but the hash is kept.
  const identity = hash('sha256', JSON.stringify([meaning, hooks.afterRequest.map(said)]), 'hex');
  identities.set(hooks.afterRequest, identity);
  return identity;
}

/** What of a hook decides about answers. */
function said({ type, deny, async, sequential, checks }: Hook): unknown[] {
  return [
    type,
    deny,
    async,
    sequential,
    checks.flatMap(({ id, parameters, isEnabled }) => (isEnabled ? [[id, parameters]] : [])),
  ];
}
