import type { JsonObject, JsonValue } from '@sluice/contracts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import { shownCount } from '../../bills/shown-usage.ts';
import type { CallContext, ReplyFacts } from '../../contract.ts';
import { compact } from '../../json/json-access.ts';
import { inputUsage } from '../token-usage.ts';

export interface EmbeddingsAnswer {
  /** In the order of the inputs: numbers, or base64 where the vendor wrote that. */
  vectors: readonly (readonly number[] | string)[];
  model: string | undefined;
  id?: string | undefined;
  /** Undefined when the vendor does not count. */
  tokens: number | undefined;
  /** The part of them that pictures came to. */
  imageTokens?: number;
}

/** The vectors in OpenAI's list, in the encoding that the caller asked for. */
export function encodeEmbeddings(
  { vectors, model, id, tokens, imageTokens }: EmbeddingsAnswer,
  context: CallContext,
): { body: JsonObject; facts: ReplyFacts } {
  const wantsBase64 = context.request.encoding_format === 'base64';
  const counted = shownCount(tokens);
  return {
    body: {
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: wantsBase64 ? base64Of(vector) : numbersOf(vector),
      })),
      model: model ?? context.model,
      usage: { prompt_tokens: counted, total_tokens: counted },
      provider: context.provider.id,
    },
    facts: compact<ReplyFacts>({
      id,
      model,
      usage:
        tokens === undefined
          ? undefined
          : { ...inputUsage(tokens), ...furtherKinds({ inputImageTokens: imageTokens }) },
    }),
  };
}

/** 32-bit floats, little end first, as OpenAI's clients read them. */
function base64Of(vector: readonly number[] | string): string {
  if (typeof vector === 'string') return vector;
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let index = 0; index < vector.length; index++)
    bytes.writeFloatLE(vector[index] as number, index * 4);
  return bytes.toString('base64');
}

function numbersOf(vector: readonly number[] | string): JsonValue {
  return typeof vector === 'string' ? vector : [...vector];
}

/** A list of numbers, or a text that stands for one; undefined for anything else. */
export function vectorOf(value: JsonValue | undefined): number[] | string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  return value.every((item) => typeof item === 'number') ? (value as number[]) : undefined;
}

/** All of them, or undefined when one is no vector. */
export function vectorsOf(
  values: readonly (JsonValue | undefined)[] | undefined,
): (number[] | string)[] | undefined {
  const vectors = values?.map(vectorOf);
  return vectors?.every((vector) => vector !== undefined) === true
    ? (vectors as (number[] | string)[])
    : undefined;
}
