import type { ExplainedAmounts, ExplainedStep, Explanation } from './explanation.ts';

/** The answer of `POST /v1/estimate`: of each target that may be asked, what the request would use there. */
export interface EstimateAnswer extends Pick<Explanation, 'request_id' | 'endpoint'> {
  object: 'estimate';
  /** In the order in which they would be asked. */
  targets: EstimatedTarget[];
  /** Those that count the request. */
  limits: Explanation['limits'];
  would_fail?: Explanation['would_fail'];
}

export interface EstimatedTarget
  extends Pick<ExplainedStep, 'path' | 'provider' | 'provider_slug' | 'model'> {
  input_tokens: Range<number>;
  output_tokens: Range<number>;
  /** In dollars; null = no price is known. */
  cost_usd: Range<number | null>;
  price: { layer: string; version: string } | null;
  /** What is asked for and has no price: costs are without it. Absent = nothing. */
  unpriced_units?: readonly string[];
}

/** `high` is what limits hold until the real use is known. */
interface Range<T> {
  low: T;
  expected: T;
  high: T;
}

export function estimateIn(explanation: Explanation): EstimateAnswer {
  const { request_id, endpoint, plan, limits, would_fail } = explanation;
  return {
    object: 'estimate',
    request_id,
    endpoint,
    targets: plan.flatMap(({ path, provider, provider_slug, model, estimate }) => {
      if (estimate === null) return [];
      const range = <T>(of: (amounts: ExplainedAmounts) => T): Range<T> => ({
        low: of(estimate.low),
        expected: of(estimate),
        high: of(estimate.high),
      });
      return [
        {
          path,
          provider,
          provider_slug,
          model,
          input_tokens: range(({ input_tokens }) => input_tokens),
          output_tokens: range(({ output_tokens }) => output_tokens),
          cost_usd: range(({ cost_nano_usd: cost }) => (cost === null ? null : cost / 1e9)),
          price: estimate.price,
          ...(estimate.unpriced_units && { unpriced_units: estimate.unpriced_units }),
        },
      ];
    }),
    limits: limits.filter(({ matched }) => matched),
    ...(would_fail === undefined ? {} : { would_fail }),
  };
}
