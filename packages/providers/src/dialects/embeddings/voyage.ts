import type { BodyDialect } from '../../contract.ts';
import { reshape } from '../reshape.ts';
import { openAiLike } from './openai-like.ts';
import { textInputsOf } from './request.ts';

/** https://docs.voyageai.com/reference/embeddings-api. It counts all tokens as one figure. */
export const voyageEmbeddings: BodyDialect = openAiLike((body) => {
  const { encoding_format: encoding } = body;
  const shaped = reshape(body, {
    rename: { dimensions: 'output_dimension' },
    drop: ['user'],
    // Only `base64` has a name here; numbers are what comes without one.
    used: encoding === 'base64' ? ['input'] : ['input', 'encoding_format'],
  });
  return { body: { ...shaped.body, input: textInputsOf(body) }, dropped: shaped.dropped };
});
