import type { JsonObject } from '@sluice/contracts';
import { stringOf } from '../../json/json-access.ts';

/**
 * Citations in this format's shape. Its own kinds are told by where they lead
 * (`…_location`), with all that its clients insist on; a page of the web becomes
 * one, what else other providers cite has no place here.
 * https://docs.claude.com/en/docs/build-with-claude/citations
 */
export function shownCitations(citations: readonly JsonObject[] | undefined): JsonObject[] {
  return (citations ?? []).flatMap((citation) => {
    if (isOwn(citation)) return [whole(citation)];
    const url = stringOf(citation.url);
    if (url === undefined) return [];
    const title = stringOf(citation.title) ?? null;
    const cited_text = stringOf(citation.cited_text) ?? '';
    return [whole({ type: pageOfWeb, url, title, cited_text })];
  });
}

const pageOfWeb = 'web_search_result_location';

const ofDocument: JsonObject = { cited_text: '', document_title: null, file_id: null };
/** What every citation of a kind has, and Converse's only now and then. */
const members = new Map<string, JsonObject>([
  ['char_location', ofDocument],
  ['page_location', ofDocument],
  ['content_block_location', ofDocument],
  ['search_result_location', { cited_text: '', source: '', title: null }],
  [pageOfWeb, { cited_text: '', title: null, encrypted_index: '' }],
]);

function whole(citation: JsonObject): JsonObject {
  const type = stringOf(citation.type) ?? '';
  return { type, ...members.get(type), ...citation };
}

/** Citations that may go back: the provider checks that it wrote the index of a page itself. */
export function returnedCitations(citations: readonly JsonObject[] | undefined): JsonObject[] {
  return (citations ?? []).filter((citation) => isOwn(citation) && citation.encrypted_index !== '');
}

function isOwn(citation: JsonObject): boolean {
  return stringOf(citation.type)?.endsWith('_location') === true;
}
