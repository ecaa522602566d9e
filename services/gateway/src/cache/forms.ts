import { type Endpoint, operations } from '@sluice/contracts';
import { assembleStream, isStreamable, keptAnswers, replayAsStream } from '@sluice/providers';
import type { Reply, ReplySink } from '../exchange/reply.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import type { CacheRequest, Delivery } from './request.ts';
import type { CachedReply, ReplyForm } from './store.ts';

/** Whether the answer to a request may be stored at all. */
export function isEligible({ endpoint, sentJson }: CacheRequest): boolean {
  const { cache, format } = operations[endpoint];
  return cache !== 'none' && keptAnswers(format).isAllThatComes?.(sentJson) !== false;
}

/** Whether a whole reply with status 200 is an answer. */
export function isAnswer(endpoint: Endpoint, body: Buffer): boolean {
  const answers = keptAnswers(operations[endpoint].format);
  return answers.isAnswer === undefined || answers.isAnswer(jsonObjectIn(body) ?? {});
}

/** The form in which a request wants its answer. */
export function wantedForm({ endpoint, sentJson, wantsStream }: CacheRequest): ReplyForm {
  if (!wantsStream) return 'json';
  const { format } = operations[endpoint];
  return keptAnswers(format).asksForUsage(sentJson) ? 'stream-with-usage' : 'stream';
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
  const { format } = operations[endpoint];
  if (!isStreamable(format)) return undefined;
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
