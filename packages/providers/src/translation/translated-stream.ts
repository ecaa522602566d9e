import type { ChatStreamEvent } from '@sluice/contracts';
import { addBill } from '../bills/add-bill.ts';
import { unitOfResult } from '../bills/charged-tools.ts';
import { shownUsage } from '../bills/shown-usage.ts';
import type { CallerCodec, StreamDecoder, StreamEncoder } from '../codecs/chat-codec.ts';
import { unitOfItem } from '../codecs/openai-responses/bill.ts';
import type { ReplyFacts, StreamFault, StreamReader } from '../contract.ts';
import { separateEvents } from '../framing/joined-events.ts';
import { type SseEvent, SseEventReader } from '../framing/sse.ts';
import { empty, invalidStream, invalidStreamType, StreamState } from '../framing/stream-tap.ts';

/** A drawn image comes as one event; what is not read whole cannot be translated. */
const eventBytesMax = 16 * 1024 * 1024;

/**
 * Some formats end with all that was said: what a stream may say is bounded,
 * or one without an end would take all memory. More than any model writes.
 */
const streamBytesMax = 64 * 1024 * 1024;

/** Reads one format and writes another, event by event. */
export class TranslatedStreamReader implements StreamReader {
  faultForwarded = false;
  #events = new SseEventReader(eventBytesMax);
  #state = new StreamState();
  #decoder: StreamDecoder;
  #encoder: StreamEncoder;
  #caller: CallerCodec;
  #bytes = 0;
  #saidBytes = 0;

  constructor(decoder: StreamDecoder, caller: CallerCodec, encoder: StreamEncoder) {
    this.#decoder = decoder;
    this.#encoder = encoder;
    this.#caller = caller;
  }

  get phase(): StreamReader['phase'] {
    return this.#state.phase;
  }
  get facts(): ReplyFacts {
    return this.#state.factsWith(this.#saidBytes);
  }
  get fault(): StreamFault | undefined {
    return this.#state.fault;
  }

  push(chunk: Buffer): Buffer {
    if (this.#state.isOver) return empty;
    this.#bytes += chunk.length;
    if (this.#bytes > streamBytesMax) {
      this.#state.fail(invalidStream('The provider sent a stream too long to translate.'));
      return empty;
    }
    const text = this.#translate(this.#events.push(chunk));
    if (this.#events.isOversized && !this.#state.isOver)
      this.#state.fail(invalidStream('The provider sent an event too large to translate.'));
    return text === '' ? empty : Buffer.from(text);
  }

  end(): Buffer {
    if (this.#state.isOver) return empty;
    let text = this.#translate(this.#events.end());
    if (!this.#state.isOver) text += this.#write(this.#decoder.end());
    return text === '' ? empty : Buffer.from(text);
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    const counted = this.#encoder.errorEvent?.(fault);
    return counted === undefined ? this.#caller.errorEvent(fault) : Buffer.from(counted);
  }

  #translate(events: readonly SseEvent[]): string {
    if (this.#events.isForeign) {
      this.#state.fail(invalidStream('The provider did not answer with an event stream.'));
      return '';
    }
    let text = '';
    for (const event of separateEvents(events)) {
      text += this.#write(this.#decoder.decode(event));
      if (this.#state.isOver) break;
    }
    return text;
  }

  #write(events: ChatStreamEvent[]): string {
    let text = '';
    for (const told of events) {
      const event = told.type === 'usage' ? this.#known(told) : told;
      this.#note(event);
      // Garbage is ours to tell of, with a code; only the provider's own words are translated.
      if (this.#state.phase === 'failed' && !this.faultForwarded) break;
      if (event.type !== 'bill') text += this.#encoder.encode(shownEvent(event));
    }
    return text;
  }

  #known(event: Extract<ChatStreamEvent, { type: 'usage' }>): ChatStreamEvent {
    const usage = this.#state.tellUsage(event.usage);
    return usage === event.usage ? event : { ...event, usage };
  }

  #note(event: ChatStreamEvent): void {
    const state = this.#state;
    switch (event.type) {
      case 'reply-start':
        state.facts.id = event.id;
        state.facts.model = event.model;
        break;
      case 'usage':
        state.isHalfTold = event.isBegun === true;
        break;
      case 'bill':
        addBill(state.facts, event.bill);
        break;
      case 'finish':
        state.facts.finishReason ??= event.raw;
        state.phase = 'content';
        break;
      case 'reply-end':
        state.phase = 'complete';
        break;
      case 'fault':
        state.fail({
          type: event.kind,
          message: event.message,
          status: event.status,
          vendor: event.vendor,
        });
        this.faultForwarded = event.kind !== invalidStreamType;
        break;
      default:
        state.phase = 'content';
        if (event.type === 'foreign-part') state.see(unitOfPart(event));
        else if (event.type === 'image') state.see(this.#decoder.drawsWith);
        if ('text' in event) this.#saidBytes += Buffer.byteLength(event.text);
        else if ('arguments' in event) this.#saidBytes += Buffer.byteLength(event.arguments);
    }
  }
}

/** Which charged tool a part in the upstream's own words shows to be used. */
function unitOfPart({ format, value }: Extract<ChatStreamEvent, { type: 'foreign-part' }>) {
  return format === 'openai-responses' ? unitOfItem(value) : unitOfResult(value);
}

function shownEvent(event: ChatStreamEvent): ChatStreamEvent {
  if (event.type !== 'usage') return event;
  const usage = shownUsage(event.usage);
  return usage === event.usage ? event : { ...event, usage };
}
