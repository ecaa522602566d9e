// Wire format: that of Cohere's first version, as self-hosted servers speak it at /rerank.
import { invalidType, missing, optionalNumber } from './openai-vendor.ts';
import { type DemoAnswer, type DemoBody, isObject } from './protocol.ts';

/** Relevance is the share of the query's words that a document has. */
export function createRerank(body: DemoBody): DemoAnswer {
  const { query, documents } = body;
  if (typeof query !== 'string') throw missing('query');
  if (!Array.isArray(documents)) throw invalidType('documents', 'an array', documents);
  const wanted = wordsOf(query);
  const results = documents
    .map((document: unknown, index) => {
      const text = isObject(document) ? String(document.text ?? '') : String(document);
      const present = wordsOf(text);
      const hits = [...wanted].filter((word) => present.has(word)).length;
      const score = wanted.size === 0 ? 0 : hits / wanted.size;
      return {
        index,
        relevance_score: Number(score.toFixed(4)),
        ...(body.return_documents === true ? { document: { text } } : {}),
      };
    })
    .sort((a, b) => b.relevance_score - a.relevance_score);
  const count = optionalNumber(body.top_n, 'top_n', 1) ?? results.length;
  return {
    kind: 'json',
    body: {
      id: `rerank-demo-${documents.length}`,
      model: body.model,
      results: results.slice(0, count),
      meta: { billed_units: { search_units: Math.ceil(documents.length / 100) } },
    },
  };
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
