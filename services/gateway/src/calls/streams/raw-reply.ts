import { GatewayError } from '@sluice/errors';
import { GrowingBytes, SkimmedJson } from '@sluice/json';
import { usage } from '@sluice/proto-stubs';
import type {
  CallContext,
  ReplyFacts,
  ReplyHead,
  StreamReader,
  Translation,
} from '@sluice/providers';
import type { PreparedCall } from '../../exchange/prepared-call.ts';
import type { StreamReply } from '../../exchange/reply.ts';
import type { OngoingAttempt } from '../ongoing-attempt.ts';
import { replyHeaders } from '../reply-headers.ts';
import type { UpstreamCall } from '../upstream-call.ts';

const { Outcome } = usage;

/**
 * Bytes passed on as they come, whatever they are. Success is a complete reply.
 * Of a format we know, the usage is read on the way; a reply that is not what
 * the format says is still the caller's.
 */
export function rawReply(attempt: OngoingAttempt, call: UpstreamCall): StreamReply {
  const headers = replyHeaders(call.headers, true);
  const length = call.headers['content-length'];
  if (length !== undefined) headers['content-length'] = length;
  const tap = openTap(attempt.call, call);
  let isWhole = false;
  /** All of it has come, and is judged before it is a success. */
  let isAwaited = false;
  let isDenied = false;
  return {
    kind: 'stream',
    status: call.status,
    headers,
    pipeTo(sink) {
      sink.onDrain(() => call.resume());
      call.consume({
        data: (chunk) => {
          if (isDenied) return true;
          tap?.add(chunk);
          return sink.write(chunk);
        },
        end() {
          if (isDenied) return;
          const { facts, isComplete } = tap?.end() ?? { facts: undefined, isComplete: true };
          isWhole = isComplete;
          if (call.status >= 400)
            attempt.finishNow(Outcome.UPSTREAM_ERROR, call.status, 'upstream.error', facts);
          else if (isComplete && attempt.call.isJudged) isAwaited = true;
          else if (isComplete) attempt.finishNow(Outcome.SUCCESS, call.status, '', facts);
          else
            attempt.finishNow(Outcome.PARTIAL, call.status, 'upstream.stream_cut', facts, 'closed');
          sink.end();
        },
        fail(error) {
          if (isDenied) return;
          attempt.finishNow(
            error.code === 'request.aborted' ? Outcome.CALLER_GONE : Outcome.PARTIAL,
            call.status,
            error.code,
            tap?.end().facts,
            error.failureCause,
          );
          if (error.code === 'gateway.draining' && tap?.isBetweenEvents === true) {
            sink.write(tap.errorEvent?.(error) ?? nothing);
            sink.end();
          } else sink.cut(error.code);
        },
      });
    },
    discard() {
      if (call.status >= 400)
        attempt.finishNow(Outcome.UPSTREAM_ERROR, call.status, 'upstream.error', undefined);
      else attempt.finishNow(Outcome.CALLER_GONE, call.status, 'request.superseded', undefined);
      call.abort(new GatewayError('request.superseded'));
    },
    wasWhole: () => isWhole,
    conclude(denied) {
      if (denied === undefined) {
        if (isAwaited) attempt.finishNow(Outcome.SUCCESS, call.status, '', tap?.facts);
        return nothing;
      }
      isDenied = true;
      // What was said was paid for.
      attempt.finishNow(Outcome.DENIED, call.status, denied.code, tap?.facts);
      call.abort(denied);
      return tap?.errorEvent?.(denied) ?? nothing;
    },
  };
}

const nothing = Buffer.alloc(0);

/** Looks at a reply on its way without touching it. */
interface Tap {
  add(chunk: Buffer): void;
  end(): { facts: ReplyFacts | undefined; isComplete: boolean };
  /** As far as it has told. */
  readonly facts?: ReplyFacts | undefined;
  /** Of a stream: what its format says of an error. */
  errorEvent?(error: GatewayError): Buffer;
  /** Of a stream: what has passed ends with a whole server-sent event. */
  readonly isBetweenEvents?: boolean;
}

function openTap(prepared: PreparedCall, call: UpstreamCall): Tap | undefined {
  const translation = prepared.translation;
  const isPlain = (call.headers['content-encoding'] ?? 'identity') === 'identity';
  if (translation === undefined || !isPlain || call.status >= 300) return undefined;
  if (call.isEventStream)
    return new StreamTap(
      translation.openStream(prepared.context, prepared.sentJson),
      isOpenText(call),
    );
  const head = { status: call.status, headers: call.headers };
  // What speech costs stands in the request: hours of it need not be kept.
  const bytesMax = translation.callerFormat === 'openai-speech' ? 0 : keptBytesMax;
  return new BodyTap(translation, prepared.context, head, bytesMax);
}

/** Server-sent events, to which one of ours can be added. */
function isOpenText({ headers }: UpstreamCall): boolean {
  return (
    /^text\/event-stream\b/i.test(String(headers['content-type'])) &&
    headers['content-length'] === undefined
  );
}

class StreamTap implements Tap {
  readonly #reader: StreamReader;
  readonly #isText: boolean;
  /** Of what has passed. */
  #last = '';

  constructor(reader: StreamReader, isText: boolean) {
    this.#reader = reader;
    this.#isText = isText;
  }

  add(chunk: Buffer): void {
    this.#reader.push(chunk);
    if (!this.#isText) return;
    const last = chunk.toString('latin1', Math.max(0, chunk.length - lineEndsMax));
    this.#last = (this.#last + last).slice(-lineEndsMax);
  }

  get isBetweenEvents(): boolean {
    return this.#isText && /\n\r?\n$/.test(this.#last);
  }

  end() {
    this.#reader.end();
    return { facts: this.#reader.facts, isComplete: this.#reader.phase === 'complete' };
  }

  get facts(): ReplyFacts {
    return this.#reader.facts;
  }

  errorEvent({ type, message, status, code }: GatewayError): Buffer {
    return this.#reader.errorEvent({ type, message, status, code });
  }
}

/** Two ends of lines. */
const lineEndsMax = 4;

/** Keeps the bytes of a reply while they are few enough to be read at the end; of more it reads what stands beside them. */
class BodyTap implements Tap {
  readonly #translation: Translation;
  readonly #context: CallContext;
  readonly #head: ReplyHead;
  readonly #bytesMax: number;
  #bytes: GrowingBytes | undefined = new GrowingBytes();
  #skim: SkimmedJson | undefined;

  /** With `bytesMax` 0 the reply is not looked at: the format tells all from the request. */
  constructor(translation: Translation, context: CallContext, head: ReplyHead, bytesMax: number) {
    this.#translation = translation;
    this.#context = context;
    this.#head = head;
    this.#bytesMax = bytesMax;
  }

  add(chunk: Buffer): void {
    if (this.#bytesMax === 0) return;
    this.#skim?.add(chunk);
    if (this.#bytes === undefined) return;
    this.#bytes.add(chunk);
    if (this.#bytes.length <= this.#bytesMax) return;
    if (this.#translation.skim !== undefined) {
      this.#skim = new SkimmedJson();
      for (const piece of this.#bytes.takePieces()) this.#skim.add(piece);
    }
    this.#bytes = undefined;
  }

  end() {
    if (this.#skim !== undefined)
      return { facts: this.#translation.skim?.(this.#skim.object()), isComplete: true };
    if (this.#bytes === undefined) return { facts: undefined, isComplete: true };
    try {
      const { facts } = this.#translation.decode(this.#bytes.take(), this.#context, this.#head);
      return { facts, isComplete: true };
    } catch {
      // Not the format after all: nothing to read, nothing to refuse.
      return { facts: undefined, isComplete: true };
    }
  }
}

const keptBytesMax = 4 * 1024 * 1024;
