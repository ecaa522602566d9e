import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type {
  CallerCodec,
  ReplyOptions,
  StreamDecoder,
  StreamEncoder,
} from '../codecs/chat-codec.ts';
import type { CallContext, StreamFault, StreamReader, Translation } from '../contract.ts';
import { separateEvents } from '../framing/joined-events.ts';
import { parseSseEvents } from '../framing/sse.ts';
import { ChatTranslation, streamOptionsOf } from '../translation/chat-translation.ts';
import { chatCodecs } from '../translation/find-translation.ts';
import { TranslatedStreamReader } from '../translation/translated-stream.ts';
import { unframed } from '../translation/unframed-stream.ts';
import {
  type ContinuationWay,
  continuedRequest,
  isContinuable,
  unseenLength,
} from './continued-request.ts';
import { ContinuingEncoder, TellingEncoder } from './continuing-encoder.ts';
import { KeptStreamReader } from './kept-stream.ts';
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

  constructor(caller: CallerCodec) {
    this.#caller = caller;
  }

  /** Undefined where streams of this call cannot be continued. */
  static of({ callerFormat, upstreamFormat }: Translation): SplicedStream | undefined {
    const caller = chatCodecs[callerFormat];
    if (caller === undefined || !isContinuable(callerFormat)) return undefined;
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
    return this.#reader(translation, context, encoder);
  }

  /** What the answer lacks now that its stream was cut; undefined = nobody can mend it. */
  lacks(): 'end' | 'more' | undefined {
    return this.#takeOver() ? this.#told.lacks : undefined;
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
    const encoder = new ContinuingEncoder(this.#told, this.#encoderNow(), {
      unseen: unseenLength(this.#told.text, way),
      mayRepeat: way === 'instruction',
    });
    return this.#reader(translation, context, encoder);
  }

  /** The end of an answer that lacks nothing else. */
  end(): Buffer {
    const encoder = this.#encoderNow();
    const finish = this.#told.wantsFinish
      ? encoder.encode({ type: 'finish', choice: 0, reason: 'tool-calls' })
      : '';
    return Buffer.from(finish + encoder.encode({ type: 'reply-end' }));
  }

  /** Undefined while the stream passes as it comes: then its reader knows. */
  errorEvent(fault: StreamFault & { code?: string }): Buffer | undefined {
    if (this.#encoder === undefined) return undefined;
    const counted = this.#encoder.errorEvent?.(fault);
    return counted === undefined ? this.#caller.errorEvent(fault) : Buffer.from(counted);
  }

  #reader(translation: Translation, context: CallContext, encoder: StreamEncoder): StreamReader {
    const decoder = decoderOf(translation, context);
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
    const sent = separateEvents(parseSseEvents(kept));
    const events = sent.flatMap((event) => decoder.decode(event));
    for (const event of events) this.#told.note(event);
    const resumed = this.#caller.resumeEncoder?.(this.#options, sent, this.#told.textBlock);
    this.#encoder = resumed ?? this.#caller.openEncoder(this.#options);
    if (resumed !== undefined) return true;
    // Tokens that the caller was told of are not told again.
    for (const event of events) if (event.type !== 'usage') this.#encoder.encode(event);
    return true;
  }
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
