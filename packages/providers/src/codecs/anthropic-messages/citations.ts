import type { JsonObject } from '@sluice/contracts';
import { stringOf } from '../../json/json-access.ts';

/**
 * Citations in this format's shape. Its own kinds are told by where they lead
 * (`…_location`); a page of the web becomes one, what else other providers cite
 * has no place here.
 * https://docs.claude.com/en/docs/build-with-claude/citations
 */
export function shownCitations(citations: readonly JsonObject[] | undefined): JsonObject[] {
  return (citations ?? []).flatMap((citation) => {
    if (isOwn(citation)) return [citation];
    const url = stringOf(citation.url);
    if (url === undefined) return [];
    return [
      {
        type: 'web_search_result_location',
        url,
        title: stringOf(citation.title) ?? null,
        encrypted_index: '',
        cited_text: stringOf(citation.cited_text) ?? '',
      },
    ];
  });
}

/** Citations that may go back: the provider checks that it wrote the index of a page itself. */
export function returnedCitations(citations: readonly JsonObject[] | undefined): JsonObject[] {
  return (citations ?? []).filter((citation) => isOwn(citation) && citation.encrypted_index !== '');
}

function isOwn(citation: JsonObject): boolean {
  return stringOf(citation.type)?.endsWith('_location') === true;
}
