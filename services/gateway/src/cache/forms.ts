import type { Endpoint } from '@sluice/contracts';
import {
  assembleStream,
  type JsonObject,
  replayAsStream,
  type StreamableFormat,
} from '@sluice/providers';
import type { Reply, ReplySink } from '../exchange/reply.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import type { CacheRequest } from './request.ts';
import type { CachedReply, ReplyForm } from './store.ts';

/** Endpoints whose answers may be stored, and the format in which callers get them. */
const formats: Partial<Record<Endpoint, StreamableFormat | 'json-only'>> = {
  chatComplete: 'openai-chat',
  complete: 'openai-completions',
  messages: 'anthropic-messages',
  createModelResponse: 'openai-responses',
  embed: 'json-only',
  rerank: 'json-only',
  moderate: 'json-only',
  imageGenerate: 'json-only',
  ocr: 'json-only',
};

export function isEligible({ endpoint, sentJson }: CacheRequest): boolean {
  // What goes on at the provider while nobody waits, or is written to there, is not only an answer.
  if (endpoint === 'createModelResponse')
    return sentJson.background !== true && (sentJson.conversation ?? null) === null;
  return formats[endpoint] !== undefined;
}

/** Whether a whole answer with status 200 is one: a response says for itself how it ended. */
export function isAnswer(endpoint: Endpoint, body: Buffer): boolean {
  if (endpoint !== 'createModelResponse') return true;
  const status = jsonObjectIn(body)?.status;
  return status === 'completed' || status === 'incomplete';
}

/** The form in which a request wants its answer. */
export function wantedForm(request: CacheRequest): ReplyForm {
  if (!request.wantsStream) return 'json';
  const options = request.sentJson.stream_options;
  // Messages and responses always tell their usage.
  if (alwaysTellUsage.has(request.endpoint) || typeof options !== 'object' || options === null)
    return 'stream';
  return (options as JsonObject).include_usage === true ? 'stream-with-usage' : 'stream';
}

const alwaysTellUsage: ReadonlySet<Endpoint> = new Set(['messages', 'createModelResponse']);

/** An answer in the form a request wants it. */
export interface Delivery {
  isStream: boolean;
  contentType: string;
  body: Buffer;
}

/**
 * The stored bytes themselves where the form is the same; else the answer told
 * as a stream, or a stream put together. Undefined where that is not possible
 * without loss.
 */
export function deliver(
  endpoint: Endpoint,
  held: CachedReply,
  wanted: ReplyForm,
): Delivery | undefined {
  if (held.form === wanted)
    return { isStream: wanted !== 'json', contentType: held.contentType, body: held.body };
  const format = formats[endpoint];
  if (format === undefined || format === 'json-only') return undefined;
  const json = held.form === 'json' ? jsonObjectIn(held.body) : assembleStream(format, held.body);
  if (json === undefined) return undefined;
  if (wanted === 'json')
    return {
      isStream: false,
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(json)),
    };
  const events = replayAsStream(format, json, { includeUsage: wanted === 'stream-with-usage' });
  if (events === undefined) return undefined;
  return { isStream: true, contentType: 'text/event-stream', body: Buffer.concat(events) };
}

/** A reply of its own for each caller: whoever sends it adds headers. */
export function replyOf({ isStream, contentType, body }: Delivery): Reply {
  const headers = { 'content-type': contentType };
  if (!isStream) return { kind: 'body', status: 200, headers, body };
  return {
    kind: 'stream',
    status: 200,
    headers,
    pipeTo(sink: ReplySink) {
      sink.write(body);
      sink.end();
    },
    discard() {},
    wasWhole: () => true,
  };
}
