import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { BodyDialect } from '../../contract.ts';
import { objectOf } from '../../json/json-access.ts';
import { reshape } from '../reshape.ts';
import { rerankDialect } from './dialect.ts';
import { documentsOf, documentText, rankFields } from './request.ts';

/** https://docs.pinecone.io/reference/api/latest/inference/rerank: documents are objects, ranked by their `text`. */
export const pineconeRerank: BodyDialect = rerankDialect((body) => {
  const fields = rankFields(body);
  const documents = documentsOf(body).map((document, index) =>
    asObject(document, `documents[${index}]`, fields),
  );
  const shaped = reshape(body, {
    drop: ['max_chunks_per_doc', 'max_tokens_per_doc'],
    used: ['documents', 'return_documents'],
  });
  return { body: { ...shaped.body, documents, return_documents: false }, dropped: shaped.dropped };
});

/** Objects stay as they are where the caller says, by name or by `text`, what of them counts. */
function asObject(
  document: JsonValue,
  path: string,
  fields: readonly string[] | undefined,
): JsonObject {
  const object = objectOf(document);
  if (object !== undefined && (fields !== undefined || typeof object.text === 'string'))
    return object;
  return { text: documentText(document, path, undefined) };
}
