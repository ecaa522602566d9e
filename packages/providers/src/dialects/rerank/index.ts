/** Reranking: the unified request in each vendor's words. `reply.ts` reads all their answers. */
export { azureRerank, cohereRerank } from './cohere.ts';
export { rerankDialect } from './dialect.ts';
export { commonRerank, jinaRerank } from './jina.ts';
export { pineconeRerank } from './pinecone.ts';
export { encodeRerank, type RerankAnswer, readRerank } from './reply.ts';
export { documentsOf, documentText, rankFields, textDocuments } from './request.ts';
export { voyageRerank } from './voyage.ts';
