import type { JsonObject } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf, stringOf } from '../json/json-access.ts';
import { translationVia } from '../translation/find-translation.ts';
import { bucketNames } from './bucket-names.ts';
import type { RowDialect } from './row.ts';

/**
 * `{recordId, modelInput}`: conversations in Converse's words, which one job
 * takes for models of all vendors (`modelInvocationType`), embeddings in the model's own.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-data.html
 */
export const bedrockRows: RowDialect = {
  endpoints: ['chatComplete', 'complete', 'embed', 'createModelResponse', 'messages'],
  names: bucketNames,
  translation(endpoint, context) {
    const offered = endpoint === 'embed' ? 'embed' : 'chatComplete';
    return translationVia(context.provider, offered, endpoint, context);
  },
  write: ({ customId }, modelInput) => ({ recordId: customId, modelInput }),
  read(row) {
    const customId = stringOf(row.recordId);
    if (customId === undefined) return undefined;
    const asked = objectOf(row.modelInput);
    const reply = objectOf(row.modelOutput);
    if (reply !== undefined) {
      const told = { customId, reply, status: 200, requestId: '', error: undefined };
      return asked === undefined ? told : { ...told, asked };
    }
    const error = objectOf(row.error);
    const status = numberOf(error?.errorCode) ?? 500;
    const message = stringOf(error?.errorMessage) ?? 'The provider gave no answer to this line.';
    return { customId, reply: { message }, status, requestId: '', error: undefined };
  },
  endpointOf: (reply) => (isEmbedding(reply) ? 'embed' : 'chatComplete'),
};

function isEmbedding(reply: JsonObject): boolean {
  return (
    arrayOf(reply.embedding) !== undefined ||
    reply.embeddings !== undefined ||
    reply.embeddingsByType !== undefined
  );
}
