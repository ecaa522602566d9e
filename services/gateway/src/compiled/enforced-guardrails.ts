import type { Hook, ResolvedTarget, TargetHooks } from '@sluice/engine';
import { checkKinds } from '@sluice/guardrails';
import { findGuardrail, readGuardrail } from './saved-guardrails.ts';
import type { WholeBundle } from './tables.ts';

/** What every request of a workspace must pass, whatever it or its config says. */
export interface EnforcedGuardrails extends TargetHooks {
  /** Those that cannot be run, and why: nothing may be asked without them. */
  readonly missing: readonly string[];
  /** Some check looks into bodies of requests: they are read whole, whatever they are. */
  readonly readsBodies: boolean;
  /** Tells one state from another: the versions in their order. */
  readonly identity: string;
}

/** Undefined where a workspace has none: its requests pay nothing. */
export function enforcedGuardrails(
  bundle: WholeBundle,
  before: EnforcedGuardrails | undefined,
): EnforcedGuardrails | undefined {
  const { enforcedInputGuardrails: input, enforcedOutputGuardrails: output } = bundle.source;
  if (input.length === 0 && output.length === 0) return undefined;
  const sources = new Map([...input, ...output].map((slug) => [slug, findGuardrail(bundle, slug)]));
  const versionOf = (slug: string) => sources.get(slug)?.version.id ?? '';
  const identity = JSON.stringify([input.map(versionOf), output.map(versionOf)]);
  // The same object while nothing changes: checks are compiled for its hooks.
  if (before?.identity === identity) return before;
  const missing: string[] = [];
  const hooks = new Map<string, Hook>();
  for (const [slug, source] of sources) {
    const hook = source === undefined ? undefined : { ...readGuardrail(source), isEnforced: true };
    const unknown = hook?.checks.find(({ id, isEnabled }) => isEnabled && !checkKinds.has(id));
    if (hook === undefined) missing.push(`"${slug}" is not known here`);
    else if (unknown !== undefined)
      missing.push(`"${slug}" has the check "${unknown.id}", which this release does not run`);
    else hooks.set(slug, hook);
  }
  const hooksOf = (slugs: readonly string[]) => slugs.flatMap((slug) => hooks.get(slug) ?? []);
  const beforeRequest = hooksOf(input);
  return {
    beforeRequest,
    afterRequest: hooksOf(output),
    missing,
    readsBodies: beforeRequest.some(readsBody),
    identity,
  };
}

function readsBody({ checks }: Hook): boolean {
  return checks.some(({ id, isEnabled }) => {
    const judges = checkKinds.get(id)?.judges;
    return isEnabled && (judges === 'texts' || judges === 'parameters');
  });
}

/** The hooks of one target and those that are enforced on it. */
export interface VisitHooks {
  /** What the config asks for, without what is enforced already. */
  readonly own: TargetHooks | undefined;
  readonly enforced: EnforcedGuardrails | undefined;
}

const byTarget = new WeakMap<EnforcedGuardrails, WeakMap<ResolvedTarget, VisitHooks>>();
const ownOnly = new WeakMap<TargetHooks, VisitHooks>();

/** Undefined where nothing is checked. */
export function hooksOf(
  planned: ResolvedTarget,
  enforced: EnforcedGuardrails | undefined,
): VisitHooks | undefined {
  const { hooks } = planned;
  if (enforced === undefined) {
    if (hooks === undefined) return undefined;
    return kept(ownOnly, hooks, () => ({ own: hooks, enforced: undefined }));
  }
  const targets = kept(byTarget, enforced, () => new WeakMap<ResolvedTarget, VisitHooks>());
  return kept(targets, planned, () => ({
    own: hooks === undefined ? undefined : withoutEnforced(hooks, enforced),
    enforced,
  }));
}

function kept<Key extends object, Value>(
  map: WeakMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** What a config names and is enforced runs once, as enforced. */
function withoutEnforced(own: TargetHooks, enforced: TargetHooks): TargetHooks {
  return {
    beforeRequest: without(own.beforeRequest, enforced.beforeRequest),
    afterRequest: without(own.afterRequest, enforced.afterRequest),
  };
}

function without(own: readonly Hook[], enforced: readonly Hook[]): readonly Hook[] {
  const ids = new Set(enforced.map(({ versionId }) => versionId));
  return own.filter(({ versionId }) => versionId === undefined || !ids.has(versionId));
}
