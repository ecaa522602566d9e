import { editedImages, speechObjects } from './media-rows.ts';
import { objectRows } from './object-operations.ts';
import type { ModelOperation, ObjectOperation, Operation, ToolOperation } from './operation.ts';
import { realtimeCallOperations, realtimeOperations } from './realtime-operations.ts';
import {
  completionObjects,
  countedObjects,
  messageObjects,
  responseObjects,
} from './response-rows.ts';

const inference = ['completions.write'] as const;

/** What the JSON endpoints of one question and one answer have in common. */
const question = {
  about: 'model',
  body: 'json',
  errors: 'openai',
  scopes: inference,
  spends: 'request',
  repeat: 'fresh',
  reply: 'body',
  hooks: { input: 'none', output: 'none' },
  cache: 'none',
  names: { model: 'body.model' },
  uses: 'units',
} as const satisfies Partial<ModelOperation>;

/** Texts go in and come out: hooks read and change both, and an answer can be told either way. */
const conversation = {
  ...question,
  reply: 'events',
  hooks: { input: 'all', output: 'all' },
  cache: 'stream',
  uses: 'text',
} as const satisfies Partial<ModelOperation>;

/** Below the gateway's own root, at `/{server}/mcp` and `/{workspace}/{server}/mcp`. */
const tools = {
  about: 'tool',
  body: 'none',
  errors: 'openai',
  scopes: ['mcp.invoke'],
  spends: 'nothing',
  repeat: 'safe',
} as const satisfies Partial<ToolOperation>;

/**
 * The data plane: a row is all there is to know of an operation, and routes,
 * scopes, limits, hooks, the cache, records and docs/operations.md read it.
 * Its key is what logs, policies (`endpoint_type`), checks
 * (`allowedRequestTypes`) and records call the operation. The busiest come first.
 *
 * What a row asks for beyond values, the compiler asks for in turn: texts of a
 * format for hooks, both tellings of an answer for the cache (`packages/providers`).
 */
const rows = {
  chatComplete: {
    ...conversation,
    at: 'POST /v1/chat/completions',
    format: 'openai-chat',
    objects: completionObjects,
  },
  embed: {
    ...question,
    at: 'POST /v1/embeddings',
    format: 'openai-embeddings',
    // Judged, but never changed.
    hooks: { input: 'guardrails', output: 'none' },
    cache: 'body',
    uses: 'input',
  },
  messages: {
    ...conversation,
    at: 'POST /v1/messages',
    format: 'anthropic-messages',
    errors: 'anthropic',
    objects: messageObjects,
  },
  complete: { ...conversation, at: 'POST /v1/completions', format: 'openai-completions' },
  createModelResponse: {
    ...conversation,
    at: 'POST /v1/responses',
    format: 'openai-responses',
    objects: responseObjects,
  },
  messagesCountTokens: {
    ...question,
    at: 'POST /v1/messages/count_tokens',
    format: 'anthropic-count-tokens',
    errors: 'anthropic',
    objects: countedObjects,
    repeat: 'safe',
    spends: 'nothing',
    uses: 'nothing',
  },
  rerank: { ...question, at: 'POST /v1/rerank', format: 'rerank', cache: 'body' },
  moderate: {
    ...question,
    at: 'POST /v1/moderations',
    format: 'openai-moderations',
    cache: 'body',
    uses: 'nothing',
  },
  imageGenerate: {
    ...question,
    at: 'POST /v1/images/generations',
    format: 'openai-images',
    reply: 'events',
    cache: 'body',
  },
  imageEdit: {
    ...question,
    at: 'POST /v1/images/edits',
    body: 'form',
    format: 'openai-image-edits',
    reply: 'events',
    objects: editedImages,
  },
  imageVariation: {
    ...question,
    at: 'POST /v1/images/variations',
    body: 'form',
    format: 'openai-image-variations',
  },
  createSpeech: {
    ...question,
    at: 'POST /v1/audio/speech',
    format: 'openai-speech',
    reply: 'sound',
    objects: speechObjects,
  },
  createTranscription: {
    ...question,
    at: 'POST /v1/audio/transcriptions',
    body: 'form',
    format: 'openai-transcriptions',
    reply: 'events',
  },
  createTranslation: {
    ...question,
    at: 'POST /v1/audio/translations',
    body: 'form',
    format: 'openai-translations',
    reply: 'events',
  },
  ocr: { ...question, at: 'POST /v1/ocr', format: 'ocr', cache: 'body' },
  listModels: {
    ...question,
    at: 'GET /v1/models',
    body: 'none',
    format: 'openai-models',
    // Listing needs less than asking; three spellings of the scope are in use.
    scopes: [...inference, 'virtual_keys.list', 'models.list'],
    spends: 'nothing',
    repeat: 'safe',
    names: { model: 'nowhere' },
    uses: 'nothing',
  },
  proxy: {
    ...question,
    at: 'ANY /v1/*',
    body: 'raw',
    format: 'raw',
    reply: 'any',
    // Of a body that is passed through, nothing can be judged but that it may be.
    hooks: { input: 'type', output: 'none' },
    names: { model: 'address' },
    // Where its body is read, and is a conversation.
    uses: 'text',
  },
  ...objectRows,
  ...realtimeOperations,
  ...realtimeCallOperations,
  promptComplete: {
    about: 'prompt',
    at: 'POST /v1/prompts/:reference/completions',
    body: 'json',
    errors: 'openai',
    scopes: inference,
    spends: 'request',
    repeat: 'fresh',
  },
  promptRender: {
    about: 'prompt',
    at: 'POST /v1/prompts/:reference/render',
    body: 'json',
    errors: 'openai',
    scopes: ['prompts.render'],
    spends: 'nothing',
    repeat: 'safe',
  },
  estimate: {
    about: 'decision',
    at: 'POST /v1/estimate/*',
    body: 'json',
    errors: 'openai',
    scopes: inference,
    spends: 'nothing',
    repeat: 'safe',
  },
  tokenize: {
    about: 'decision',
    at: 'POST /v1/gateway/tokenize/*',
    body: 'json',
    errors: 'openai',
    scopes: inference,
    spends: 'nothing',
    repeat: 'safe',
  },
  /** One JSON-RPC message: a call of a tool, a list, an answer to what the server asked. */
  mcpMessage: {
    ...tools,
    at: 'POST /:server/mcp',
    body: 'json',
    spends: 'request',
    repeat: 'fresh',
  },
  /** What the server says by itself. */
  mcpStream: { ...tools, at: 'GET /:server/mcp' },
  mcpEnd: { ...tools, at: 'DELETE /:server/mcp', repeat: 'idempotent' },
  agentCall: {
    about: 'agent',
    at: 'ANY /v1/agent/:server/*',
    body: 'raw',
    errors: 'openai',
    scopes: ['agents.invoke'],
    spends: 'request',
    repeat: 'fresh',
  },
  explain: {
    about: 'decision',
    at: 'POST /v1/explain/*',
    body: 'json',
    errors: 'openai',
    scopes: inference,
    spends: 'nothing',
    repeat: 'safe',
  },
} as const satisfies Readonly<Record<string, Operation>>;

type Rows = typeof rows;

export type OperationId = keyof Rows;

/** Operations that ask a model: what providers offer, and what records and policies name. */
export type Endpoint = {
  [Id in OperationId]: Rows[Id] extends { about: 'model' } ? Id : never;
}[OperationId];

/** Operations that ask for what stays at a provider. */
export type ObjectOperationId = {
  [Id in OperationId]: Rows[Id] extends { about: 'object' } ? Id : never;
}[OperationId];

/** Whatever is asked of a provider: what checks and records name. */
export type CalledId = Endpoint | ObjectOperationId;

/** Its row, with the name it goes by. */
export type CalledOperation =
  | EndpointOperation
  | (ObjectOperation & { readonly id: ObjectOperationId });

/** An endpoint's row, with the name it goes by. */
export type EndpointOperation = ModelOperation & {
  readonly id: Endpoint;
  readonly format: CallerFormat;
};

/** Any row, with the name it goes by. */
export type NamedOperation = Operation & { readonly id: OperationId };

/** Rows by id, as wide as their readers need them: they ask a row what it says, not which it is. */
export const operations = withIds(rows);

type OperationsById = {
  readonly [Id in OperationId]: (Id extends Endpoint
    ? EndpointOperation
    : Id extends ObjectOperationId
      ? ObjectOperation
      : Operation) & {
    readonly id: Id;
  };
};

function withIds(given: Rows): OperationsById {
  const named = Object.entries(given).map(([id, row]) => [id, Object.freeze({ id, ...row })]);
  return Object.fromEntries(named) as OperationsById;
}

export const operationIds = Object.keys(rows) as readonly OperationId[];

/** Every endpoint, the busiest first. */
export const endpoints: readonly EndpointOperation[] = operationIds.flatMap((id) => {
  const operation: NamedOperation = operations[id];
  return operation.about === 'model' ? [operation as EndpointOperation] : [];
});

/** Every operation on what stays at a provider. */
export const objectOperations: readonly (ObjectOperation & { readonly id: ObjectOperationId })[] =
  operationIds.flatMap((id) => {
    const operation: NamedOperation = operations[id];
    return operation.about === 'object'
      ? [operation as ObjectOperation & { readonly id: ObjectOperationId }]
      : [];
  });

/** What callers speak at some endpoint. */
export type CallerFormat = Rows[Endpoint]['format'];

/** Formats whose texts hooks read. */
export type CheckedFormat = Exclude<CheckedFormatOf<Rows>, 'raw'>;

/** Formats whose texts hooks read in replies as well, streams included. */
export type AnsweringFormat = AnsweringFormatOf<Rows>;

/** Formats whose replies are kept, and told as JSON or as a stream. */
export type StreamableFormat = StreamableFormatOf<Rows>;

/** Of any table, so that a test can ask what a further row would ask for. */
export type CheckedFormatOf<Table> = {
  [Id in keyof Table]: Table[Id] extends { hooks: { input: 'all' | 'guardrails' }; format: infer F }
    ? F
    : never;
}[keyof Table];

export type AnsweringFormatOf<Table> = {
  [Id in keyof Table]: Table[Id] extends {
    hooks: { output: 'all' | 'guardrails' };
    format: infer F;
  }
    ? F
    : never;
}[keyof Table];

export type StreamableFormatOf<Table> = {
  [Id in keyof Table]: Table[Id] extends { cache: 'stream'; format: infer F } ? F : never;
}[keyof Table];
