import type { JsonValue } from '@sluice/contracts';
import type { BodyDialect } from '../../contract.ts';
import { objectOf } from '../../json/json-access.ts';
import { reshape } from '../reshape.ts';
import { rerankDialect } from './dialect.ts';
import { documentsOf, documentText, rankFields } from './request.ts';

/** https://api.jina.ai/redoc#tag/rerank. Its newer models rank images, too. */
export const jinaRerank: BodyDialect = rerankDialect((body) => {
  const fields = rankFields(body);
  const documents = documentsOf(body).map((document, index) =>
    isMedium(document) ? document : documentText(document, `documents[${index}]`, fields),
  );
  const shaped = reshape(body, {
    drop: ['max_chunks_per_doc', 'max_tokens_per_doc'],
    used: ['documents', 'return_documents', 'rank_fields'],
  });
  // The documents are the caller's own: they need not come back over the wire.
  return { body: { ...shaped.body, documents, return_documents: false }, dropped: shaped.dropped };
});

/**
 * The wire of Cohere's first version, which vLLM, SiliconFlow, Together and
 * others have taken over at `/rerank`: chunking included, documents as text.
 * https://docs.siliconflow.cn/en/api-reference/rerank/create-rerank
 */
export const commonRerank: BodyDialect = rerankDialect((body) => {
  const fields = rankFields(body);
  const documents = documentsOf(body).map((document, index) =>
    documentText(document, `documents[${index}]`, fields),
  );
  const shaped = reshape(body, { used: ['documents', 'return_documents', 'rank_fields'] });
  return { body: { ...shaped.body, documents, return_documents: false }, dropped: [] };
});

function isMedium(document: JsonValue): boolean {
  const object = objectOf(document);
  return object !== undefined && typeof object.image === 'string';
}
