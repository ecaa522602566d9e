import type { JsonObject } from '@sluice/contracts';
import { invalidField } from '../json/invalid-field.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import { findTranslation } from '../translation/find-translation.ts';
import type { RowDialect } from './row.ts';

/**
 * Rows of a dataset that an embed job reads: a text each, and `custom_id` beside it, which a dataset keeps where
 * it was made with `keep_fields`. https://docs.cohere.com/docs/embed-jobs-api
 */
export const cohereRows: RowDialect = {
  endpoints: ['embed'],
  // Words alone.
  names: [],
  translation: (endpoint, context) => findTranslation(context.provider, endpoint, context),
  write({ customId }, body) {
    const [text, ...others] = arrayOf(body.texts) ?? [];
    if (typeof text !== 'string' || others.length > 0)
      throw invalidField('input', 'must be one text: a row of a dataset has one');
    return { text, custom_id: customId };
  },
  read(row) {
    const customId = stringOf(row.custom_id);
    if (customId === undefined) return undefined;
    const text = stringOf(row.text) ?? '';
    const embeddings = vectorsOf(row);
    if (Object.keys(embeddings).length === 0)
      return {
        customId,
        reply: undefined,
        status: 0,
        requestId: '',
        error: { code: 'failed', message: 'The provider gave no vector for this line.' },
      };
    return {
      customId,
      reply: { id: customId, texts: [text], embeddings },
      status: 200,
      requestId: '',
      error: undefined,
      // Nobody tells what a row counted.
      asked: { text },
    };
  },
  endpointOf: () => 'embed',
};

/** By their types, each a list of one vector: results are Avro, in which each type has a place, if only for nothing. */
function vectorsOf({ embedding, embeddings }: JsonObject): JsonObject {
  const byType = objectOf(embeddings) ?? {
    float: arrayOf(embedding) ?? arrayOf(embeddings) ?? null,
  };
  return Object.fromEntries(
    Object.entries(byType)
      .filter(([, one]) => one !== null && arrayOf(one)?.length !== 0)
      .map(([type, one]) => [type, Array.isArray(one) && Array.isArray(one[0]) ? one : [one]]),
  );
}
