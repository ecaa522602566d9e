import type { Explanation } from './explanation.ts';

/** The answer of `POST /v1/gateway/tokenize`: what the request would send to the target that would be asked first. */
export interface TokensAnswer extends Pick<Explanation, 'request_id' | 'endpoint' | 'would_fail'> {
  object: 'tokens';
  provider: string | null;
  provider_slug: string | null;
  model: string | null;
  /** Null where nobody would be asked. */
  input_tokens: number | null;
  /** What limits hold for them until the provider has counted. */
  input_tokens_max: number | null;
  /** Nobody is asked: it is what this gateway reckons with. */
  method: 'estimate';
}

export function tokensIn({ request_id, endpoint, plan, would_fail }: Explanation): TokensAnswer {
  const first = plan.find(({ estimate }) => estimate !== null);
  return {
    object: 'tokens',
    request_id,
    endpoint,
    provider: first?.provider ?? null,
    provider_slug: first?.provider_slug ?? null,
    model: first?.model ?? null,
    input_tokens: first?.estimate?.input_tokens ?? null,
    input_tokens_max: first?.estimate?.high.input_tokens ?? null,
    method: 'estimate',
    ...(would_fail === undefined ? {} : { would_fail }),
  };
}
