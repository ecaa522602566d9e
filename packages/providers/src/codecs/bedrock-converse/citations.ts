/**
 * Citations. The chat model keeps them as Anthropic's messages have them, which
 * is how callers of both formats know them; Converse tells the same otherwise.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html
 */
import type { JsonObject } from '@sluice/contracts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';

/** Converse's kind of place → Anthropic's, with the names of its bounds. */
const places = [
  ['documentChar', 'char_location', 'start_char_index', 'end_char_index'],
  ['documentPage', 'page_location', 'start_page_number', 'end_page_number'],
  ['documentChunk', 'content_block_location', 'start_block_index', 'end_block_index'],
] as const;

export function decodeCitation(citation: JsonObject): JsonObject {
  const location = objectOf(citation.location) ?? {};
  const quote = (arrayOf(citation.sourceContent) ?? [])
    .map((piece) => stringOf(objectOf(piece)?.text) ?? '')
    .join('');
  const common = { cited_text: quote === '' ? undefined : quote };
  const title = stringOf(citation.title);
  for (const [place, type, start, end] of places) {
    const found = objectOf(location[place]);
    if (found === undefined) continue;
    return compact({
      type,
      ...common,
      document_index: numberOf(found.documentIndex),
      document_title: title,
      [start]: numberOf(found.start),
      [end]: numberOf(found.end),
    }) as JsonObject;
  }
  const web = objectOf(location.web);
  if (web !== undefined)
    return compact({
      type: 'web_search_result_location',
      ...common,
      url: stringOf(web.url),
      title,
    }) as JsonObject;
  const found = objectOf(location.searchResultLocation);
  if (found === undefined) return citation;
  return compact({
    type: 'search_result_location',
    ...common,
    source: stringOf(citation.source),
    title,
    search_result_index: numberOf(found.searchResultIndex),
    start_block_index: numberOf(found.start),
    end_block_index: numberOf(found.end),
  }) as JsonObject;
}

export function encodeCitation(citation: JsonObject): JsonObject {
  const quote = stringOf(citation.cited_text);
  const common = {
    title: stringOf(citation.document_title) ?? stringOf(citation.title),
    source: stringOf(citation.source),
    sourceContent: quote === undefined ? undefined : [{ text: quote }],
  };
  for (const [place, type, start, end] of places) {
    if (citation.type !== type) continue;
    const bounds = compact({
      documentIndex: numberOf(citation.document_index),
      start: numberOf(citation[start]),
      end: numberOf(citation[end]),
    });
    return compact({ ...common, location: { [place]: bounds } }) as JsonObject;
  }
  const url = stringOf(citation.url);
  if (url !== undefined) return compact({ ...common, location: { web: { url } } }) as JsonObject;
  if (citation.type !== 'search_result_location') return citation;
  const bounds = compact({
    searchResultIndex: numberOf(citation.search_result_index),
    start: numberOf(citation.start_block_index),
    end: numberOf(citation.end_block_index),
  });
  return compact({ ...common, location: { searchResultLocation: bounds } }) as JsonObject;
}
