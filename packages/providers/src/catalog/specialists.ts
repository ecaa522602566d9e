import type { ProviderEntry } from '../contract.ts';
import {
  deepgramSpeech,
  deepgramTranscription,
  elevenLabsSpeech,
  elevenLabsTranscription,
} from '../dialects/audio/index.ts';
import {
  jinaEmbeddings,
  nomicEmbeddings,
  pineconeEmbeddings,
  voyageEmbeddings,
} from '../dialects/embeddings/index.ts';
import { falImages, segmindImages, stabilityImages } from '../dialects/images/index.ts';
import {
  deepgramModels,
  elevenLabsModels,
  pineconeModels,
  stabilityModels,
} from '../dialects/models/index.ts';
import { jinaRerank, pineconeRerank, voyageRerank } from '../dialects/rerank/index.ts';
import { falVideos } from '../jobs/fal-videos.ts';
import { keepsVideos } from './keepings.ts';

/** Those who do one thing other than conversations: embed, rerank, draw, speak, listen. */
export const specialists: readonly ProviderEntry[] = [
  {
    id: 'deepgram',
    name: 'Deepgram',
    baseUrl: 'https://api.deepgram.com/v1',
    auth: { type: 'bearer', scheme: 'Token' },
    endpoints: {
      createSpeech: deepgramSpeech,
      createTranscription: deepgramTranscription,
      listModels: deepgramModels,
    },
    source: 'https://developers.deepgram.com/reference/deepgram-api-overview, November 2026',
  },
  {
    id: 'elevenlabs',
    name: 'ElevenLabs',
    baseUrl: 'https://api.elevenlabs.io/v1',
    auth: { type: 'header', header: 'xi-api-key' },
    endpoints: {
      createSpeech: elevenLabsSpeech,
      createTranscription: elevenLabsTranscription,
      listModels: elevenLabsModels,
    },
    source: 'https://elevenlabs.io/docs/api-reference/introduction, November 2026',
  },
  {
    id: 'fal-ai',
    name: 'fal.ai',
    baseUrl: 'https://fal.run/openrouter/router/openai/v1',
    auth: { type: 'bearer', scheme: 'Key' },
    endpoints: {
      chatComplete: { format: 'openai-chat', path: '/chat/completions' },
      imageGenerate: falImages,
    },
    keeps: keepsVideos,
    jobs: { videos: falVideos },
    quirks: { developerAsSystem: true },
    source: 'https://docs.fal.ai/model-apis/model-endpoints, November 2026',
    note: 'Chat goes through its router; of the jobs on its queue host, videos are offered.',
  },
  {
    id: 'jina',
    name: 'Jina AI',
    baseUrl: 'https://api.jina.ai/v1',
    auth: { type: 'bearer' },
    endpoints: {
      embed: { format: 'jina/embeddings', path: '/embeddings', dialect: jinaEmbeddings },
      rerank: { format: 'jina/rerank', path: '/rerank', dialect: jinaRerank },
    },
    source: 'https://api.jina.ai/redoc, November 2026',
  },
  {
    id: 'nomic',
    name: 'Nomic',
    aliases: ['nomic-ai'],
    baseUrl: 'https://api-atlas.nomic.ai/v1',
    auth: { type: 'bearer' },
    endpoints: {
      embed: { format: 'nomic/embeddings', path: '/embedding/text', dialect: nomicEmbeddings },
    },
    source: 'https://docs.nomic.ai/reference/api/embed-text-v-1-embedding-text-post, November 2026',
  },
  {
    id: 'pinecone',
    name: 'Pinecone Inference',
    baseUrl: 'https://api.pinecone.io',
    auth: { type: 'header', header: 'api-key' },
    endpoints: {
      embed: { format: 'pinecone/embeddings', path: '/embed', dialect: pineconeEmbeddings },
      rerank: { format: 'pinecone/rerank', path: '/rerank', dialect: pineconeRerank },
      listModels: pineconeModels,
    },
    headers: { 'x-pinecone-api-version': '2025-04' },
    callerHeaders: ['x-pinecone-api-version'],
    source: 'https://docs.pinecone.io/reference/api/introduction, November 2026',
  },
  {
    id: 'recraft-ai',
    name: 'Recraft',
    baseUrl: 'https://external.api.recraft.ai/v1',
    auth: { type: 'bearer' },
    endpoints: { imageGenerate: { format: 'openai-images', path: '/images/generations' } },
    source: 'https://www.recraft.ai/docs/api-reference/endpoints, November 2026',
  },
  {
    id: 'segmind',
    name: 'Segmind',
    baseUrl: 'https://api.segmind.com/v1',
    auth: { type: 'header', header: 'x-api-key' },
    endpoints: { imageGenerate: segmindImages },
    source: 'https://docs.segmind.com/home/api-reference, November 2026',
  },
  {
    id: 'stability-ai',
    name: 'Stability AI',
    baseUrl: 'https://api.stability.ai',
    auth: { type: 'bearer' },
    endpoints: { imageGenerate: stabilityImages, listModels: stabilityModels },
    callerHeaders: ['stability-client-id', 'stability-client-user-id', 'stability-client-version'],
    source: 'https://platform.stability.ai/docs/api-reference, November 2026',
  },
  {
    id: 'voyage',
    name: 'Voyage AI',
    baseUrl: 'https://api.voyageai.com/v1',
    auth: { type: 'bearer' },
    endpoints: {
      embed: { format: 'voyage/embeddings', path: '/embeddings', dialect: voyageEmbeddings },
      rerank: { format: 'voyage/rerank', path: '/rerank', dialect: voyageRerank },
    },
    source: 'https://docs.voyageai.com/reference/embeddings-api, November 2026',
  },
];
