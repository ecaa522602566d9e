import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type {
  CallerCodec,
  ReplyOptions,
  StreamDecoder,
  StreamEncoder,
} from '../codecs/chat-codec.ts';
import type { CallContext, StreamFault, StreamReader, Translation } from '../contract.ts';
import { separateEvents } from '../framing/joined-events.ts';
import { parseSseEvents, type SseEvent } from '../framing/sse.ts';
import { empty, invalidStreamType } from '../framing/stream-tap.ts';
import { ChatTranslation, streamOptionsOf } from '../translation/chat-translation.ts';
import { chatCodecs } from '../translation/find-translation.ts';
import { TranslatedStreamReader } from '../translation/translated-stream.ts';
import { unframed } from '../translation/unframed-stream.ts';
import {
  type ContinuationWay,
  continuedRequest,
  isContinuable,
  lastWords,
  unseenLength,
} from './continued-request.ts';
import { KeptStreamReader } from './kept-stream.ts';
import { RestDecoder } from './rest-decoder.ts';
import { RestEncoder, TellingEncoder } from './telling-encoder.ts';
import { ToldAnswer } from './told-answer.ts';

/**
 * One stream to a caller that several upstreams may tell one after the other.
 * While the first tells it, it is noted, or kept where it passes as it comes;
 * only from the cut on it is read and written anew.
 */
export class SplicedStream {
  readonly #caller: CallerCodec;
  readonly #told = new ToldAnswer();
  #options: ReplyOptions | undefined;
  #encoder: StreamEncoder | undefined;
  #passing: { reader: KeptStreamReader; decoder: StreamDecoder } | undefined;
  /** What came and was not passed on: from the upstream, and as the caller is told it. */
  #held: { raw: Buffer; told: string } = nothingHeld;
  /** What the provider ended it with itself. */
  #fault: ToldAnswer['fault'];

  constructor(caller: CallerCodec) {
    this.#caller = caller;
  }

  /** Undefined where streams of this call cannot be continued. `request`: the caller's. */
  static of(
    { callerFormat, upstreamFormat }: Translation,
    request: JsonObject,
  ): SplicedStream | undefined {
    const caller = chatCodecs[callerFormat];
    if (caller === undefined || !isContinuable(callerFormat, request)) return undefined;
    return callerFormat !== upstreamFormat || chatCodecs[upstreamFormat] !== undefined
      ? new SplicedStream(caller)
      : undefined;
  }

  /** @param hold counts bytes that are held until the request is over; false = they must not be */
  openFirst(
    translation: Translation,
    context: CallContext,
    request: JsonObject,
    hold: (bytes: number) => boolean,
  ): StreamReader {
    this.#options = streamOptionsOf(context, request);
    if (translation.mode === 'native') {
      const reader = new KeptStreamReader(translation.openStream(context, request), hold);
      this.#passing = { reader, decoder: decoderOf(translation, context) };
      return reader;
    }
    this.#encoder = this.#caller.openEncoder(this.#options);
    const encoder = new TellingEncoder(this.#told, this.#encoder);
    return this.#reader(translation, decoderOf(translation, context), encoder);
  }

  /** What the answer lacks now that its stream was cut; undefined = nobody can mend it. */
  lacks(): 'end' | 'more' | undefined {
    if (!this.#takeOver()) return undefined;
    const { lacks, fault } = this.#told;
    this.#fault = fault;
    return lacks;
  }

  /** What came before the cut and is not with the caller yet, who others go on for. */
  takeHeld(): Buffer {
    const { told } = this.#held;
    this.#held = nothingHeld;
    return Buffer.from(told);
  }

  /** How a model that takes a begun answer, or does not, can be asked for the rest; the best way first. */
  waysToAsk(takesPrefill: boolean): readonly ContinuationWay[] {
    if (this.#told.text.trim() === '') return ['anew'];
    return takesPrefill ? ['prefill', 'instruction'] : ['instruction'];
  }

  /** The caller's request for the rest. */
  continuedRequest(body: JsonObject, way: ContinuationWay): JsonObject {
    return continuedRequest(this.#caller.format, body, this.#told.text, way);
  }

  /** Reads the stream of whoever tells the rest. */
  openNext(translation: Translation, context: CallContext, way: ContinuationWay): StreamReader {
    const { text } = this.#told;
    this.#told.fault = undefined;
    const decoder = new RestDecoder(this.#told, decoderOf(translation, context), {
      asked: way === 'instruction' ? lastWords(text) : undefined,
      unseen: unseenLength(text, way),
    });
    return this.#reader(translation, decoder, new RestEncoder(this.#told, this.#encoderNow()));
  }

  /** The end of an answer that lacks nothing else. */
  end(): Buffer {
    const encoder = this.#encoderNow();
    const finish = this.#told.wantsFinish
      ? encoder.encode({ type: 'finish', choice: 0, reason: 'tool-calls' })
      : '';
    return Buffer.from(finish + encoder.encode({ type: 'reply-end' }));
  }

  /**
   * The end of a stream that nobody goes on with. What the provider ended it
   * with itself goes out as it came. Undefined while the stream passes as it
   * comes: then its reader knows.
   */
  errorEvent(fault: StreamFault & { code?: string }): Buffer | undefined {
    const isWritten = this.#takeOver();
    const { raw, told } = this.#held;
    if (raw.length > 0) return raw;
    // It went out with what could not be kept.
    if (!isWritten) return this.#passing?.reader.faultForwarded === true ? empty : undefined;
    const encoder = this.#encoderNow();
    const own = this.#fault ?? this.#told.fault;
    if (own !== undefined) return Buffer.from(encoder.encode(own));
    const counted = encoder.errorEvent?.(fault);
    const event = counted === undefined ? this.#caller.errorEvent(fault) : Buffer.from(counted);
    return Buffer.concat([Buffer.from(told), event]);
  }

  #reader(translation: Translation, decoder: StreamDecoder, encoder: StreamEncoder): StreamReader {
    return unframed(new TranslatedStreamReader(decoder, this.#caller, encoder), translation.entry);
  }

  #encoderNow(): StreamEncoder {
    if (this.#encoder === undefined) throw new Error('nothing was told yet');
    return this.#encoder;
  }

  /** From here on the stream is written: what passed is read to know what it said. */
  #takeOver(): boolean {
    if (this.#passing === undefined) return this.#encoder !== undefined;
    const { reader, decoder } = this.#passing;
    const kept = reader.takeKept();
    if (kept === undefined || this.#options === undefined) return false;
    this.#passing = undefined;
    const sent = eventsIn(kept.passed);
    const events = sent.flatMap((event) => decoder.decode(event));
    for (const event of events) this.#told.note(event);
    const encoder = this.#resume(this.#options, sent, events);
    this.#encoder = encoder;
    const { held } = kept;
    const raw = reader.faultForwarded ? held : empty;
    // What is held of a stream that has not failed is half an event.
    const isWhole = encoder !== undefined && reader.phase === 'failed';
    this.#held = { raw, told: isWhole ? this.#tell(held, decoder, encoder) : '' };
    return encoder !== undefined;
  }

  /** The encoder that goes on with what was passed; undefined = there is something open that it cannot end. */
  #resume(
    options: ReplyOptions,
    sent: readonly SseEvent[],
    events: readonly ChatStreamEvent[],
  ): StreamEncoder | undefined {
    const { resumeEncoder } = this.#caller;
    if (resumeEncoder !== undefined) return resumeEncoder(options, sent, this.#told.textBlock);
    const encoder = this.#caller.openEncoder(options);
    // Tokens that the caller was told of are not told again.
    for (const event of events) if (event.type !== 'usage') encoder.encode(event);
    return encoder;
  }

  /** What came before the event that ended the stream, and was not passed on with it. */
  #tell(held: Buffer, decoder: StreamDecoder, encoder: StreamEncoder): string {
    let told = '';
    for (const event of eventsIn(held).flatMap((event) => decoder.decode(event))) {
      if (event.type === 'fault' && event.kind === invalidStreamType) break;
      this.#told.note(event);
      if (event.type === 'fault') break;
      told += encoder.encode(event);
    }
    return told;
  }
}

const nothingHeld = { raw: empty, told: '' };

function eventsIn(bytes: Buffer): readonly SseEvent[] {
  return separateEvents(parseSseEvents(bytes));
}

function decoderOf(translation: Translation, context: CallContext): StreamDecoder {
  const decoder =
    translation instanceof ChatTranslation
      ? translation.openDecoder(context)
      : chatCodecs[translation.upstreamFormat]?.openDecoder();
  // Such a stream was not asked for.
  if (decoder === undefined) throw new GatewayError('provider.endpoint_unsupported');
  return decoder;
}
