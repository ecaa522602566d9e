import type { JsonObject } from '@sluice/contracts';
import type { BodyDialect, CallContext, EncodedRequest } from '../../contract.ts';
import { reshape } from '../reshape.ts';
import { rerankDialect } from './dialect.ts';
import { textDocuments } from './request.ts';

/** https://docs.cohere.com/reference/rerank */
export const cohereRerank: BodyDialect = rerankDialect(encodeCohere);

/** Azure AI Foundry speaks Cohere's wire, and knows the models without their vendor. */
export const azureRerank: BodyDialect = rerankDialect((body, context) => {
  const encoded = encodeCohere(body, context);
  const { model } = body;
  if (typeof model !== 'string') return encoded;
  return { ...encoded, body: { ...encoded.body, model: model.replace(/^cohere\./, '') } };
});

/** Version 2 takes texts only and returns no documents; both are made up for here. */
function encodeCohere(body: JsonObject, _context: CallContext): EncodedRequest {
  const documents = textDocuments(body);
  const shaped = reshape(body, {
    drop: ['max_chunks_per_doc'],
    used: ['documents', 'return_documents', 'rank_fields'],
  });
  return { body: { ...shaped.body, documents }, dropped: shaped.dropped };
}
