import type { ModelOperation } from './operation.ts';

/** A connection of WebSocket frames, opened by a GET: what is asked and answered passes within it. */
const session = {
  about: 'model',
  body: 'none',
  errors: 'openai',
  scopes: ['completions.write'],
  spends: 'request',
  // Each is work of its own, whatever its method says.
  repeat: 'fresh',
  reply: 'session',
  // That it is opened can be judged; of what is said in it, nothing is.
  hooks: { input: 'type', output: 'none' },
  cache: 'none',
  names: { model: 'address' },
  uses: 'text',
} as const satisfies Partial<ModelOperation>;

/** Spread into the table of operations. */
export const realtimeOperations = {
  realtime: { ...session, at: 'GET /v1/realtime', format: 'openai-realtime' },
  realtimeTranslation: {
    ...session,
    at: 'GET /v1/realtime/translations',
    format: 'openai-realtime-translation',
  },
  /** The endpoint of the same path over a WebSocket: each frame of the caller names its model. */
  responseSession: { ...session, at: 'GET /v1/responses', format: 'openai-responses-session' },
} as const satisfies Readonly<Record<string, ModelOperation>>;
