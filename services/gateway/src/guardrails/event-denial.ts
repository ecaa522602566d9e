import type { ToldHook } from '../exchange/subject.ts';
import { type HookRun, hasRun } from './hook-results.ts';
import { hookVerdict } from './hook-verdict.ts';

/** What a denial of a call of a tool or an agent says: names only, since what was found is what nobody is to read. */
export interface EventDenial {
  /** Of the guardrails that denied. */
  readonly slugs: readonly string[];
  /** `denied by the guardrail a (default.pii)`. */
  readonly why: string;
}

export function eventDenial({ results }: Pick<HookRun, 'results'>): EventDenial {
  const denied = results.filter(hasRun).filter(({ deny }) => deny);
  const slugs = denied.map(({ id }) => id);
  const checks = denied.flatMap(({ checks }) =>
    checks.filter(({ verdict }) => !verdict).map(({ id }) => id),
  );
  const of = checks.length > 0 ? ` (${checks.join(', ')})` : '';
  return { slugs, why: `denied by the guardrail ${slugs.join(', ')}${of}` };
}

/** For the record: each a `HookVerdict` as JSON. */
export function eventVerdicts(
  event: 'before' | 'after',
  { results }: Pick<HookRun, 'results'>,
): string[] {
  return results.filter(hasRun).map((result) => JSON.stringify(hookVerdict(event, result)));
}

/** For the caller, as `hook_results` of models has it, without what was found. */
export function toldHooks({ results }: Pick<HookRun, 'results'>): ToldHook[] {
  return results.filter(hasRun).map(({ id, verdict, deny, checks }) => ({
    id,
    verdict,
    deny,
    checks: checks.map((check) => ({ id: check.id, verdict: check.verdict })),
  }));
}
