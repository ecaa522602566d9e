import type { ProviderEntry } from '../../contract.ts';

/** NVIDIA's server completes text by the generate extension of its HTTP interface. */
export const triton: ProviderEntry = {
  id: 'triton',
  name: 'NVIDIA Triton',
  baseUrl: '',
  auth: { type: 'none' },
  endpoints: {
    complete: {
      format: 'triton-generate',
      path: ({ stream }) => (stream ? '/generate_stream' : '/generate'),
    },
  },
  source:
    'https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/extension_generate.html, November 2026',
  note: 'The custom host names server and model: https://host/v2/models/{model}.',
};
