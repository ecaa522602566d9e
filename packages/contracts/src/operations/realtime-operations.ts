import { passed } from './object-row.ts';
import type { ModelOperation, ObjectOperation } from './operation.ts';
import { saidResponses } from './response-rows.ts';

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
  realtime: {
    ...session,
    at: 'GET /v1/realtime',
    format: 'openai-realtime',
    // Beside a call that is under way.
    objects: { names: [{ kind: 'call', at: 'query.call_id' }] },
  },
  realtimeTranslation: {
    ...session,
    at: 'GET /v1/realtime/translations',
    format: 'openai-realtime-translation',
  },
  /** The endpoint of the same path over a WebSocket: each frame of the caller names its model. */
  responseSession: {
    ...session,
    at: 'GET /v1/responses',
    format: 'openai-responses-session',
    objects: saidResponses,
  },
} as const satisfies Readonly<Record<string, ModelOperation>>;

/** Prepares a session, begins one that goes past us, or steers it: what is said in it is charged, and that alone. */
const prepares = { ...passed, takes: 'json', repeat: 'fresh', of: 'realtime calls' } as const;

const ofCall = {
  ...prepares,
  objects: { names: [{ kind: 'call', at: 'path.call_id' }] },
} as const satisfies Partial<ObjectOperation>;

/**
 * Secrets for browsers, and calls over WebRTC and SIP. Spread into the table of operations.
 * Paths are those of OpenAI's API reference, November 2026; `sessions` and `transcription_sessions` those of its beta.
 */
export const realtimeCallOperations = {
  createRealtimeSecret: { ...prepares, at: 'POST /v1/realtime/client_secrets' },
  createTranslationSecret: { ...prepares, at: 'POST /v1/realtime/translations/client_secrets' },
  createRealtimeSession: { ...prepares, at: 'POST /v1/realtime/sessions' },
  createTranscriptionSession: { ...prepares, at: 'POST /v1/realtime/transcription_sessions' },
  /** Takes an offer of WebRTC: SDP alone, or with the session in a form. */
  createRealtimeCall: { ...prepares, takes: 'anything', at: 'POST /v1/realtime/calls' },
  createTranslationCall: {
    ...prepares,
    takes: 'anything',
    at: 'POST /v1/realtime/translations/calls',
  },
  acceptRealtimeCall: { ...ofCall, at: 'POST /v1/realtime/calls/:call_id/accept' },
  rejectRealtimeCall: {
    ...ofCall,
    repeat: 'idempotent',
    at: 'POST /v1/realtime/calls/:call_id/reject',
  },
  referRealtimeCall: { ...ofCall, at: 'POST /v1/realtime/calls/:call_id/refer' },
  hangupRealtimeCall: {
    ...ofCall,
    repeat: 'idempotent',
    at: 'POST /v1/realtime/calls/:call_id/hangup',
  },
} as const satisfies Readonly<Record<string, ObjectOperation>>;
