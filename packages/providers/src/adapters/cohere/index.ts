import { keepsFilesAndBatches } from '../../catalog/keepings.ts';
import type { ProviderEntry } from '../../contract.ts';
import { cohereEmbeddings } from '../../dialects/embeddings/index.ts';
import { cohereRerank } from '../../dialects/rerank/index.ts';
import { cohereFiles } from '../../files/dataset-files.ts';
import { models } from './models.ts';

/** Cohere's chat is a format of its own, which `codecs/cohere-chat` knows; paths bring their version. */
export const cohere: ProviderEntry = {
  id: 'cohere',
  name: 'Cohere',
  baseUrl: 'https://api.cohere.com',
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: { format: 'cohere-chat', path: '/v2/chat' },
    embed: { format: 'cohere/embeddings', path: '/v2/embed', dialect: cohereEmbeddings },
    rerank: { format: 'cohere/rerank', path: '/v2/rerank', dialect: cohereRerank },
    listModels: {
      format: 'cohere/models',
      path: '/v1/models',
      query: { page_size: '1000' },
      method: 'GET',
      dialect: models,
    },
  },
  keeps: keepsFilesAndBatches,
  files: cohereFiles,
  settings: ['provider-file-name', 'provider-model', 'file-purpose'],
  source: 'https://docs.cohere.com/reference/chat, November 2026',
};
