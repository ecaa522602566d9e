import { modelSegment } from '../../address.ts';
import type { ProviderEntry } from '../../contract.ts';

/** Google's models before Gemini. */
export const palm: ProviderEntry = {
  id: 'palm',
  name: 'Google PaLM',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta3',
  // The same key as in the query, where it would reach logs.
  auth: { type: 'header', header: 'x-goog-api-key' },
  endpoints: {
    chatComplete: {
      format: 'palm-chat',
      path: ({ model }) => `/models/${modelSegment(model)}:generateMessage`,
    },
  },
  accountHeaders: ['x-goog-user-project'],
  source: 'https://ai.google.dev/api/palm, before its retirement',
  note: 'Retired by Google: only for private stand-ins by a custom host. It does not stream.',
};
