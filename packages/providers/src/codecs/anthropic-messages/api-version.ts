import type { JsonValue } from '@sluice/contracts';
import type { CallContext } from '../../contract.ts';
import { stringOf } from '../../json/json-access.ts';
import { factsOfClaude } from '../../models/claude.ts';

/**
 * Since version 2026-10-21 of the API, which the vendor's clients ask for since their next major one,
 * `temperature`, `top_p` and `top_k` are refused whatever the model, their defaults too. Earlier models have not got it at Bedrock.
 * https://platform.claude.com/docs/en/api/migration-2026-10-21, https://platform.claude.com/docs/en/api/versioning
 */
const since = '2026-10-21';

/** @param inBody the version as it stands in the body */
export function refusesSampling(inBody: JsonValue | undefined, context: CallContext): boolean {
  return isNewer(versionOf(inBody, context)) && hasNewer(context);
}

/**
 * The version as clouds that serve Claude themselves take it, in the body: what is asked for where they
 * have it, as the vendor's clients for them send it (`@anthropic-ai/bedrock-sdk` and `vertex-sdk` 1.1.3, November 2026); else their own.
 * @param own  as it was before there were others: `bedrock-…`, `vertex-…`
 */
export function cloudVersion(
  inBody: JsonValue | undefined,
  context: CallContext,
  own: string,
): string {
  const asked = versionOf(inBody, context);
  if (asked?.startsWith(own.slice(0, own.indexOf('-') + 1)) === true) return asked;
  return isNewer(asked) && hasNewer(context) ? asked : own;
}

function versionOf(
  inBody: JsonValue | undefined,
  { sentHeader, setting }: CallContext,
): string | undefined {
  return stringOf(inBody) ?? sentHeader?.('anthropic-version') ?? setting('anthropic-version');
}

function isNewer(version: string | undefined): version is string {
  return version !== undefined && /^\d{4}-/.test(version) && version >= since;
}

function hasNewer({ model, modelOverrides, provider }: CallContext): boolean {
  return factsOfClaude(model, modelOverrides).newerVersions || provider.id !== 'bedrock';
}
