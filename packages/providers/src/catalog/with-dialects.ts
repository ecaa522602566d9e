import type { ProviderEntry } from '../contract.ts';
import {
  fireworksImages,
  hyperbolicImages,
  siliconflowImages,
  togetherImages,
} from '../dialects/images/index.ts';
import { bareModels } from '../dialects/models/index.ts';
import { fireworksFiles } from '../files/dataset-files.ts';
import { togetherFiles } from '../files/form-files.ts';
import { fireworksTuning } from '../jobs/fireworks-tuning.ts';
import { togetherVideos } from '../jobs/together-videos.ts';
import { keepsFiles, keepsTuning, keepsVideos } from './keepings.ts';
import { compatible, offering, rerank } from './openai-endpoints.ts';

/** OpenAI's formats in conversations, and words of their own for images or lists. */
export const providersWithDialects: readonly ProviderEntry[] = [
  {
    ...compatible,
    id: 'fireworks-ai',
    name: 'Fireworks AI',
    aliases: ['fireworks'],
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    endpoints: {
      ...offering('chatComplete', 'complete', 'embed', 'listModels'),
      imageGenerate: fireworksImages,
      // Datasets, deployments and jobs belong to an account, and are not part of inference.
      proxy: {
        format: 'raw',
        path: ({ proxyPath }) => proxyPath ?? '',
        baseUrl: ({ proxyPath }) =>
          proxyPath?.startsWith('/accounts/') === true
            ? 'https://api.fireworks.ai/v1'
            : 'https://api.fireworks.ai/inference/v1',
      },
    },
    keeps: { ...keepsFiles, ...keepsTuning },
    files: fireworksFiles,
    jobs: { 'fine-tuning jobs': fireworksTuning },
    settings: ['fireworks-account-id', 'file-upload-size', 'file-purpose'],
    quirks: { ...compatible.quirks, takesTopK: true, thinkingBack: { field: 'reasoning_content' } },
    source:
      'https://www.developersdigest.tech/reference/api-compatibility/fireworks; images: https://app.unpkg.com/@ai-sdk/fireworks@2.0.13/files/dist/index.mjs, November 2026',
  },
  {
    ...compatible,
    id: 'hyperbolic',
    name: 'Hyperbolic',
    baseUrl: 'https://api.hyperbolic.xyz/v1',
    endpoints: {
      ...offering('chatComplete', 'complete', 'listModels'),
      imageGenerate: hyperbolicImages,
    },
    quirks: { ...compatible.quirks, takesTopK: true },
    source:
      'https://docs.rs/rig-core/0.40.0/src/rig_core/providers/hyperbolic.rs.html, November 2026',
  },
  {
    ...compatible,
    keeps: keepsFiles,
    id: 'siliconflow',
    name: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.cn/v1',
    endpoints: {
      ...offering('chatComplete', 'embed', 'listModels'),
      imageGenerate: siliconflowImages,
      rerank,
    },
    quirks: { ...compatible.quirks, takesTopK: true, thinkingBack: { field: 'reasoning_content' } },
    source:
      'https://huggingface.co/spaces/Moonfanz/Custom-Gemini/blob/main/image.py, November 2026',
    note: 'Keys of the international platform want the custom host https://api.siliconflow.com/v1.',
  },
  {
    ...compatible,
    id: 'together-ai',
    name: 'Together AI',
    baseUrl: 'https://api.together.xyz/v1',
    endpoints: {
      ...offering(
        'chatComplete',
        'complete',
        'embed',
        'createSpeech',
        'createTranscription',
        'createTranslation',
      ),
      imageGenerate: togetherImages,
      listModels: {
        format: 'together/models',
        path: '/models',
        method: 'GET',
        dialect: bareModels,
      },
      rerank,
    },
    keeps: { ...keepsFiles, ...keepsVideos },
    files: togetherFiles,
    jobs: { videos: togetherVideos },
    quirks: { ...compatible.quirks, takesTopK: true, thinkingBack: { field: 'reasoning_content' } },
    source: 'https://www.developersdigest.tech/reference/api-compatibility/together, November 2026',
    note: 'The vendor now writes the same address as https://api.together.ai/v1.',
  },
];
