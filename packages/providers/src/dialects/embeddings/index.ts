/** Embeddings: OpenAI's request in each vendor's words, and their vectors in OpenAI's list. */
export { cohereEmbeddings } from './cohere.ts';
export { jinaEmbeddings } from './jina.ts';
export { nomicEmbeddings } from './nomic.ts';
export { openAiLike } from './openai-like.ts';
export { pineconeEmbeddings } from './pinecone.ts';
export { type EmbeddingsAnswer, encodeEmbeddings, vectorOf, vectorsOf } from './reply.ts';
export { type EmbeddingInput, inputsOf, textInputsOf } from './request.ts';
export { voyageEmbeddings } from './voyage.ts';
