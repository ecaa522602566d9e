import type { Hook } from '@sluice/engine';
import type { HookContext } from './hook-context.ts';
import type { HookTools } from './run-check.ts';
import { runHook } from './run-hook.ts';

/** A hook that would run, and what is known of its verdict before anybody is asked. */
export interface JudgedHook {
  readonly id: string;
  readonly enforced: boolean;
  readonly deny: boolean;
  readonly async: boolean;
  /** Null = others would have to be asked, or there is no answer yet. */
  readonly verdict: boolean | null;
  readonly checks: readonly { readonly id: string; readonly verdict: boolean | null }[];
  /** It would deny, by an answer with status 200. */
  readonly soft_deny_200?: true;
}

/** Hooks without running them. */
export function listedHook({ id, isEnforced, deny, async, checks }: Hook): JudgedHook {
  const listed = checks.flatMap((check) =>
    check.isEnabled ? [{ id: check.id, verdict: null }] : [],
  );
  return { id, enforced: isEnforced, deny, async, verdict: null, checks: listed };
}

/** Hooks that are waited for, without the checks that ask somebody. */
export function askingNobody(hooks: readonly Hook[], { compiler }: HookTools): Hook[] {
  return hooks.flatMap((hook) => {
    const checks = hook.checks.filter((check) => compiler.get(check).deadlineMs === undefined);
    return hook.async || checks.length === 0 ? [] : [{ ...hook, checks }];
  });
}

/** Runs the checks of a hook that ask nobody: for explain, which does nothing. */
export async function judgeHook(
  hook: Hook,
  context: HookContext,
  tools: HookTools,
): Promise<JudgedHook> {
  const enabled = hook.checks.filter(({ isEnabled }) => isEnabled);
  const local = enabled.filter((check) => tools.compiler.get(check).deadlineMs === undefined);
  const { result } = await runHook({ ...hook, checks: local }, context, {
    ...tools,
    spending: { ms: 0 },
  });
  const isKnown = !result.verdict || local.length === enabled.length;
  return {
    ...listedHook(hook),
    verdict: isKnown ? result.verdict : null,
    checks: enabled.map((check) => ({
      id: check.id,
      verdict: result.checks[local.indexOf(check)]?.verdict ?? null,
    })),
    ...(result.soft_deny_200 === true ? { soft_deny_200: true } : {}),
  };
}
