import type { ChatStreamEvent } from '@sluice/contracts';
import type { StreamDecoder } from '../codecs/chat-codec.ts';
import type { SseEvent } from '../framing/sse.ts';
import { invalidStreamType } from '../framing/stream-tap.ts';
import { Seam, type SeamOptions } from './seam.ts';
import type { ToldAnswer } from './told-answer.ts';

/**
 * Reads the answer of a second model as the rest of the first one's: text
 * without what was told already, blocks numbered on. What the second one thinks
 * within a text is not told. Where the seam is torn, it is a fault.
 */
export class RestDecoder implements StreamDecoder {
  readonly #decoder: StreamDecoder;
  readonly #isWithinText: boolean;
  readonly #seam: Seam;
  /** Kind and number there → number here. */
  readonly #blocks = new Map<string, number>();
  #nextBlock: number;
  /** The text that goes on; undefined until there is some. */
  #textBlock: number | undefined;
  readonly #toldBlock: number;

  constructor(told: ToldAnswer, decoder: StreamDecoder, seam: Omit<SeamOptions, 'told'>) {
    this.#decoder = decoder;
    this.#isWithinText = told.text !== '';
    this.#seam = new Seam({ ...seam, told: told.text });
    this.#nextBlock = told.nextBlock;
    this.#toldBlock = told.textBlock;
  }

  decode(event: SseEvent): ChatStreamEvent[] {
    return this.#goOn(this.#decoder.decode(event));
  }

  end(): ChatStreamEvent[] {
    return this.#goOn(this.#decoder.end());
  }

  #goOn(events: readonly ChatStreamEvent[]): ChatStreamEvent[] {
    const rest = events.flatMap((event) => this.#continued(event));
    return this.#seam.isTorn ? [torn] : rest;
  }

  #continued(event: ChatStreamEvent): ChatStreamEvent[] {
    switch (event.type) {
      case 'reply-start':
      case 'usage':
      case 'bill':
      case 'fault':
        return [event];
      case 'text-start':
        if (this.#isGoingOn(event.block)) return [];
        break;
      case 'text-delta': {
        if (!this.#isGoingOn(event.block)) break;
        this.#textBlock = event.block;
        const text = this.#seam.push(event.text);
        return text === '' ? [] : [{ ...event, block: this.#toldBlock, text }];
      }
      case 'thinking-start':
      case 'thinking-delta':
      case 'thinking-signature':
      case 'redacted-thinking':
        return this.#isWithinText ? [] : [this.#renumbered(event)];
    }
    return [...this.#held(), this.#renumbered(event)];
  }

  /** Whether a text is the rest of what was told: the first one is. */
  #isGoingOn(block: number): boolean {
    return this.#isWithinText && (this.#textBlock ?? block) === block;
  }

  /** Of the text that was held as a possible repetition. */
  #held(): ChatStreamEvent[] {
    const text = this.#seam.end();
    return text === '' ? [] : [{ type: 'text-delta', choice: 0, block: this.#toldBlock, text }];
  }

  #renumbered<Event extends ChatStreamEvent>(event: Event): Event {
    if (!('block' in event)) return event;
    const kind = event.type === 'citation' ? 'text' : event.type.replace(/-.*/, '');
    if (kind === 'text' && this.#isWithinText && event.block === this.#textBlock)
      return { ...event, block: this.#toldBlock };
    const key = `${kind}:${event.block}`;
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = this.#nextBlock++;
      this.#blocks.set(key, block);
    }
    return { ...event, block };
  }
}

const torn: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider did not continue the answer from where it was cut.',
  status: 502,
};
