import { arrayOf } from '../json/json-access.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { endpointOfReply, readOpenAiRow } from './openai.ts';
import type { RowDialect } from './row.ts';

/**
 * Rows of OpenAI's without method and address, which the job has, and without a
 * model, which the job has as well; results are OpenAI's.
 * https://docs.mistral.ai/capabilities/batch
 */
export const mistralRows: RowDialect = {
  endpoints: ['chatComplete', 'embed'],
  translation: (endpoint, context) => findTranslation(context.provider, endpoint, context),
  write({ customId }, { model: _model, ...body }) {
    return { custom_id: customId, body };
  },
  read: readOpenAiRow,
  endpointOf: (reply) => (arrayOf(reply.data) !== undefined ? 'embed' : endpointOfReply(reply)),
};
