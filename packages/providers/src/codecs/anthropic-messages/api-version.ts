import type { JsonValue } from '@sluice/contracts';
import type { CallContext } from '../../contract.ts';
import { stringOf } from '../../json/json-access.ts';

/**
 * Whether `temperature`, `top_p` and `top_k` are refused whatever the model, their
 * defaults too: since version 2026-10-21 of the API, which the vendor's clients ask for since their next major one.
 * https://platform.claude.com/docs/en/api/migration-2026-10-21
 * @param inBody the version as it stands in the body
 */
export function refusesSampling(inBody: JsonValue | undefined, context: CallContext): boolean {
  const version = stringOf(inBody) ?? context.sentHeader?.('anthropic-version');
  return version !== undefined && /^\d{4}-/.test(version) && version >= '2026-10-21';
}
