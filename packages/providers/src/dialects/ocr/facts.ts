import type { JsonObject } from '@sluice/contracts';
import type { ReplyFacts } from '../../contract.ts';
import { arrayOf, compact, countOf, objectOf, stringOf } from '../../json/json-access.ts';

/** What Mistral's OCR reply tells; undefined when it is none. Annotations have a price of their own. */
export function readOcr(body: JsonObject): ReplyFacts | undefined {
  const listed = arrayOf(body.pages);
  if (listed === undefined) return undefined;
  const told = objectOf(body.usage_info)?.pages_processed;
  const pages = typeof told === 'number' ? countOf(told) : listed.length;
  const isAnnotated = stringOf(body.document_annotation) !== undefined;
  return compact<ReplyFacts>({
    model: stringOf(body.model),
    units: { pages, ...(isAnnotated ? { annotatedPages: pages } : {}) },
  });
}
