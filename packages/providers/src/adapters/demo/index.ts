import { keepsFilesAndBatches, keepsTuning, keepsVideos } from '../../catalog/keepings.ts';
import { offering } from '../../catalog/openai-endpoints.ts';
import { realtimeEndpoints } from '../../catalog/realtime-endpoints.ts';
import type { ProviderEntry } from '../../contract.ts';
import { commonRerank } from '../../dialects/rerank/index.ts';
import { anthropic } from '../anthropic/index.ts';

/** The local server that stands in for a vendor, so that all can be tried without a key. */
export const demo: ProviderEntry = {
  id: 'demo',
  name: 'Demo',
  baseUrl: 'http://127.0.0.1:8799/v1',
  auth: { type: 'none' },
  endpoints: {
    ...offering(
      'chatComplete',
      'complete',
      'embed',
      'createModelResponse',
      'moderate',
      'imageGenerate',
      'imageEdit',
      'createSpeech',
      'createTranscription',
      'createTranslation',
      'listModels',
    ),
    rerank: { format: 'common/rerank', path: '/rerank', dialect: commonRerank },
    messages: { format: 'anthropic-messages', path: '/messages' },
    realtime: realtimeEndpoints.realtime,
    realtimeTranslation: realtimeEndpoints.realtimeTranslation,
  },
  keeps: { ...keepsFilesAndBatches, ...keepsTuning, ...keepsVideos, 'realtime calls': {} },
  headers: anthropic.headers ?? {},
  callerHeaders: anthropic.callerHeaders ?? [],
  source: 'packages/demo-upstream',
};
