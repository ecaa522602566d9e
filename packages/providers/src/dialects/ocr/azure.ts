import type { BodyDialect } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { readOcr } from './facts.ts';

/**
 * Mistral's OCR as Azure serves it: the same words, but it fetches nothing, so
 * the document has to be in the request.
 * https://learn.microsoft.com/azure/ai-foundry/concepts/models-featured#mistral-ai
 */
export const azureOcr: BodyDialect = jsonDialect({
  encode(body) {
    const document = objectOf(body.document);
    for (const field of ['document_url', 'image_url']) {
      const value = document?.[field];
      const url = stringOf(value) ?? stringOf(objectOf(value)?.url);
      if (url !== undefined && !url.startsWith('data:'))
        throw invalidField(
          `document.${field}`,
          'must be a data URI: this provider does not fetch documents',
        );
    }
    return { body: undefined, dropped: [] };
  },
  decode(reply) {
    const facts = readOcr(objectOf(reply) ?? {});
    return facts === undefined ? undefined : { body: undefined, facts };
  },
});
