import type { Endpoint } from '@sluice/contracts';
import type { EndpointEntry } from '../contract.ts';

/** Where OpenAI, and who follows it, keeps what is held over a WebSocket. */
export const realtimeEndpoints = {
  realtime: { format: 'openai-realtime', path: '/realtime', method: 'GET' },
  realtimeTranslation: {
    format: 'openai-realtime-translation',
    path: '/realtime/translations',
    method: 'GET',
  },
  responseSession: { format: 'openai-responses-session', path: '/responses', method: 'GET' },
} as const satisfies Partial<Record<Endpoint, EndpointEntry>>;
