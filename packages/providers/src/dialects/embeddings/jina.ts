import type { BodyDialect } from '../../contract.ts';
import { reshape } from '../reshape.ts';
import { openAiLike } from './openai-like.ts';

/** https://api.jina.ai/redoc#tag/embeddings: OpenAI's shape with one field renamed. Text and images as they come. */
export const jinaEmbeddings: BodyDialect = openAiLike((body) =>
  reshape(body, { rename: { encoding_format: 'embedding_type' }, drop: ['user'] }),
);
