import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CallContext } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { factsOfListedOpenAi } from '../../models/openai.ts';
import { type FittedRequest, fittedBy } from '../fitted-request.ts';

const encryptedReasoning = 'reasoning.encrypted_content';

/**
 * What a native request asks of a model that does not reason, and that refuses to
 * hear of it; undefined where there is none of it. Codex asks every model so.
 */
export function fitToModel(body: JsonObject, context: CallContext): FittedRequest | undefined {
  const reasoning = objectOf(body.reasoning);
  const include = arrayOf(body.include);
  if (reasoning === undefined && include === undefined) return undefined;
  const { provider, modelOverrides } = context;
  const name = provider.modelBehind?.(context) ?? stringOf(body.model) ?? context.model;
  if (factsOfListedOpenAi(name, modelOverrides)?.efforts.length !== 0) return undefined;
  const edits: Record<string, JsonValue | undefined> = {};
  const dropped: string[] = [];
  for (const key in reasoning) {
    const asked = reasoning[key];
    if (asked !== null && asked !== undefined) dropped.push(`reasoning.${key}`);
  }
  if (dropped.length > 0) edits.reasoning = undefined;
  if (include?.includes(encryptedReasoning) === true) {
    const rest = include.filter((entry) => entry !== encryptedReasoning);
    edits.include = rest.length === 0 ? undefined : rest;
    dropped.push('include');
  }
  return fittedBy(edits, dropped);
}
