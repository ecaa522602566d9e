import type { LimitCheck } from '../../exchange/limits.ts';
import type { ExplainedLimit } from './explanation.ts';

/** Limits as they stand, for one target or, with null, for the request. */
export function explainedLimits(
  checks: readonly LimitCheck[],
  target: string | null,
): ExplainedLimit[] {
  return checks.flatMap((check) => {
    const { policy, state, unmet, refusal } = check;
    const limit = policy?.limit ?? state?.counter.limit;
    if (limit === undefined) return [];
    const { type, span, value } = limit;
    return [
      {
        target,
        policy: policy === undefined ? null : { id: policy.id, name: policy.name },
        type,
        unit: span.kind === 'rate' ? span.unit : null,
        limit: value,
        entity: state?.counter.entity ?? null,
        matched: state !== undefined,
        ...(unmet === undefined ? {} : { unmet_condition: unmet }),
        remaining: state?.remaining ?? null,
        // 0 = never.
        reset_at_ms: state?.resetAtMs || null,
        would_refuse: refusal !== undefined,
      },
    ];
  });
}
