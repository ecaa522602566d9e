import type { BodyDialect } from '../../contract.ts';
import { reshape } from '../reshape.ts';
import { rerankDialect } from './dialect.ts';
import { textDocuments } from './request.ts';

/** https://docs.voyageai.com/reference/reranker-api */
export const voyageRerank: BodyDialect = rerankDialect((body) => {
  const documents = textDocuments(body);
  const shaped = reshape(body, {
    rename: { top_n: 'top_k' },
    drop: ['max_chunks_per_doc', 'max_tokens_per_doc'],
    used: ['documents', 'return_documents', 'rank_fields'],
  });
  return { body: { ...shaped.body, documents, return_documents: false }, dropped: shaped.dropped };
});
