/**
 * The parts of OpenAI's embeddings that providers with other words need: what
 * was asked, and an answer made of vectors.
 */

import type { JsonObject, JsonValue } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import { shownCount } from '../../bills/shown-usage.ts';
import type { CallContext, DecodedReply } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, numberOf } from '../../json/json-access.ts';

const knownMembers = new Set(['model', 'input', 'dimensions', 'encoding_format']);

/**
 * The texts to embed, and the fields that neither we nor the provider know.
 * @throws GatewayError for inputs that are not texts, such as tokens
 */
export function readInputs(
  body: JsonObject,
  further: ReadonlySet<string>,
): { inputs: string[]; dropped: string[] } {
  const { input } = body;
  const list = typeof input === 'string' ? [input] : arrayOf(input);
  if (list === undefined || list.length === 0)
    throw invalidField('input', 'must be a text or a list of texts');
  const inputs = list.map((text, index) => {
    if (typeof text !== 'string') throw invalidField(`input[${index}]`, 'must be a text');
    return text;
  });
  const dropped = Object.keys(body).filter((key) => !knownMembers.has(key) && !further.has(key));
  return { inputs, dropped };
}

/** OpenAI's answer; vectors are in base64 where the caller asked so. `tokens` = undefined: not told. */
export function embeddingsReply(
  vectors: readonly JsonValue[][],
  tokens: number | undefined,
  context: CallContext,
): DecodedReply {
  const counted = shownCount(tokens);
  const inBase64 = context.request.encoding_format === 'base64';
  const body = {
    object: 'list',
    data: vectors.map((values, index) => ({
      object: 'embedding',
      index,
      embedding: inBase64 ? base64Of(values) : values,
    })),
    model: context.model,
    usage: { prompt_tokens: counted, total_tokens: counted },
    provider: context.provider.id,
  };
  const facts = {
    model: context.model,
    ...(tokens === undefined ? {} : { usage: { ...noUsage, inputTokens: tokens } }),
  };
  return { body: Buffer.from(JSON.stringify(body)), facts };
}

function base64Of(values: readonly JsonValue[]): string {
  const floats = new Float32Array(values.map((value) => numberOf(value) ?? 0));
  return Buffer.from(floats.buffer).toString('base64');
}
