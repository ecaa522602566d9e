import type { JsonObject } from '@sluice/contracts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';

/**
 * Sources of an answer, each with `url` and, where known, `title`: from the
 * message's `annotations`, else from the lists that Perplexity keeps beside the
 * choices (`search_results`, and `citations` of addresses alone).
 */
export function readCitations(body: JsonObject, message: JsonObject): JsonObject[] {
  const annotations = (arrayOf(message.annotations) ?? []).flatMap((value) => {
    const annotation = objectOf(value);
    const cited = objectOf(annotation?.url_citation);
    return annotation?.type === 'url_citation' && cited !== undefined ? [citation(cited)] : [];
  });
  if (annotations.length > 0) return annotations;
  const results = (arrayOf(body.search_results) ?? []).flatMap((value) => {
    const result = objectOf(value);
    return stringOf(result?.url) === undefined ? [] : [citation(result as JsonObject)];
  });
  if (results.length > 0) return results;
  return (arrayOf(body.citations) ?? []).flatMap((url) =>
    typeof url === 'string' ? [citation({ url })] : [],
  );
}

function citation(source: JsonObject): JsonObject {
  return compact({
    type: 'url_citation',
    url: stringOf(source.url) ?? '',
    title: stringOf(source.title),
    start_index: numberOf(source.start_index),
    end_index: numberOf(source.end_index),
  }) as JsonObject;
}
