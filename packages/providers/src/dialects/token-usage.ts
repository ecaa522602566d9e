import { noUsage } from '@sluice/contracts';
import type { Usage } from '../contract.ts';
import { countOf, objectOf } from '../json/json-access.ts';

/** Usage of an endpoint that only takes tokens in. */
export function inputUsage(tokens: number): Usage {
  return { ...noUsage, inputTokens: tokens };
}

/** Input tokens in any of the vendors' spellings; undefined when none is there. */
export function inputTokensOf(usage: unknown): number | undefined {
  const object = objectOf(usage);
  const count = object?.prompt_tokens ?? object?.input_tokens ?? object?.total_tokens;
  return typeof count === 'number' ? countOf(count) : undefined;
}
