import { batchLineHeader, writeBatchLine } from '@sluice/contracts';
import type { Dispatcher } from 'undici';
import {
  awayCodes,
  bytesOf,
  errorIn,
  jsonIn,
  noError,
  wasAsked,
} from '../through-gateway/answers.ts';
import { askWhole, type WholeAnswer } from '../through-gateway/ask-whole.ts';
import { factsOf, type LineFacts } from './line-facts.ts';

/** What a line is sent with. */
export interface LineCall {
  readonly batchId: string;
  readonly endpoint: string;
  readonly customId: string;
  readonly body: Buffer;
  /** Of its batch; as of now. */
  readonly token: string;
  /** Headers that the batch gives its lines. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isResponse?: boolean;
}

export type LineOutcome =
  | ({ readonly kind: 'answer' } & LineAnswer)
  /** Not now: the limits of the key, or a provider that is asked too much. */
  | {
      readonly kind: 'wait';
      readonly afterMs: number | undefined;
      readonly isOwnLimit: boolean;
      readonly answer: LineAnswer;
    }
  /** Worth another try. */
  | { readonly kind: 'again'; readonly answer: LineAnswer }
  /** The key cannot go on, nor can any other line. */
  | { readonly kind: 'ended'; readonly message: string }
  /** Nobody answered, or the gateway does not know the token: nothing is wrong with the line. */
  | {
      readonly kind: 'away';
      readonly message: string;
      /** A gateway is there, and will know: it is waited for as long as the batch lasts. */
      readonly willKnow: boolean;
    };

export interface LineAnswer {
  readonly status: number;
  readonly requestId: string;
  /** JSON on one line. */
  readonly body: string;
  /** Undefined = nobody answered. */
  readonly facts?: LineFacts;
}

export interface LineCaller {
  readonly pool: Dispatcher;
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
}

/** Sends one line to a gateway, as any caller would. Never rejects. */
export async function callLine(
  { pool, timeoutMs, answerBytesMax }: LineCaller,
  { batchId, endpoint, customId, body, token, headers, isResponse }: LineCall,
  signal: AbortSignal,
  /** Hears the events of an answer that is a stream. */
  onEvents?: (piece: Buffer) => void,
): Promise<LineOutcome> {
  const request = {
    method: 'POST' as const,
    path: endpoint,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      [batchLineHeader]: writeBatchLine({
        batchId,
        customId,
        headers,
        ...(isResponse === true && { isResponse }),
      }),
    },
    body,
    signal,
  };
  try {
    let reply: WholeAnswer;
    if (onEvents === undefined)
      reply = await askWhole(pool, { ...request, timeoutMs, bytesMax: answerBytesMax });
    else {
      const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
      const { statusCode, headers, body } = await pool.request({ ...request, ...timeouts });
      if (/^text\/event-stream\b/i.test(String(headers['content-type']))) {
        for await (const piece of body as AsyncIterable<Buffer>) onEvents(piece);
        return { kind: 'answer', status: statusCode, requestId: '', body: '{}' };
      }
      reply = { status: statusCode, headers, bytes: await bytesOf(body, answerBytesMax) };
    }
    const { status, bytes } = reply;
    if (bytes === undefined) return { kind: 'answer', ...tooLarge(answerBytesMax) };
    const requestId = String(reply.headers['x-request-id'] ?? '');
    const value = jsonIn(bytes);
    const facts = factsOf(reply.headers, value);
    const answer = { status, requestId, body: oneLine(bytes, value !== undefined), facts };
    // A provider was asked: that may be another of our kind, whose refusals are none of our key's.
    const isOurs = !wasAsked(reply.headers);
    return judged(
      answer,
      isOurs ? errorIn(value) : noError,
      retryAfterMs(reply.headers['retry-after']),
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : 'no answer';
    return { kind: 'away', message, willKnow: false };
  }
}

const waitCodes: ReadonlySet<string> = new Set([
  'limit.rate_exceeded',
  'limit.budget_exhausted',
  'limit.reserved',
  'limit.unavailable',
  'overloaded',
]);

function judged(
  answer: LineAnswer,
  { code, message }: { code: string; message: string },
  afterMs: number | undefined,
): LineOutcome {
  const { status } = answer;
  if (status < 400) return { kind: 'answer', ...answer };
  if (awayCodes.has(code)) return { kind: 'away', message, willKnow: code !== 'auth.job_token' };
  if (code.startsWith('auth.')) return { kind: 'ended', message };
  const isOwnLimit = waitCodes.has(code);
  if (status === 429 || isOwnLimit) return { kind: 'wait', afterMs, isOwnLimit, answer };
  if (status >= 500 || status === 408) return { kind: 'again', answer };
  return { kind: 'answer', ...answer };
}

/** JSON as a line of its own; what is none, as a text. Within JSON's texts there are no ends of lines. */
function oneLine(bytes: Buffer, isJson: boolean): string {
  const text = bytes.toString('utf8');
  return isJson ? text.replaceAll(/[\r\n]+/g, '') : JSON.stringify(text);
}

function retryAfterMs(value: string | string[] | undefined): number | undefined {
  const seconds = Number(value);
  return typeof value === 'string' && Number.isFinite(seconds) && seconds >= 0
    ? seconds * 1000
    : undefined;
}

/** A line's answer that is not kept. */
export function tooLarge(bytesMax: number): LineAnswer {
  return {
    status: 502,
    requestId: '',
    body: JSON.stringify({
      error: {
        code: 'batch.answer_too_large',
        type: 'api_error',
        message: `The answer has more than ${bytesMax} bytes, which is the most that a line of a batch may be answered with.`,
      },
    }),
  };
}

/** An answer as the output has it. */
export function told({
  batchId,
  number,
  customId,
  status,
  requestId,
  body,
}: {
  batchId: string;
  number: number;
  customId: string | null;
} & LineAnswer): string {
  const id = `batch_req_${batchId.replaceAll('-', '')}_${number}`;
  const head = JSON.stringify({ id, custom_id: customId }).slice(0, -1);
  return `${head},"response":{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${body}},"error":null}`;
}
