import type { ChatStreamEvent, ChatUsage } from '@sluice/contracts';
import type { StreamEncoder } from '../codecs/chat-codec.ts';
import type { StreamFault } from '../contract.ts';
import { Seam, type SeamOptions } from './seam.ts';
import type { ToldAnswer } from './told-answer.ts';

/** Notes what is told, and has it written. */
export class TellingEncoder implements StreamEncoder {
  readonly #told: ToldAnswer;
  readonly #encoder: StreamEncoder;

  constructor(told: ToldAnswer, encoder: StreamEncoder) {
    this.#told = told;
    this.#encoder = encoder;
  }

  encode(event: ChatStreamEvent): string {
    this.#told.note(event);
    return this.#encoder.encode(event);
  }

  errorEvent(fault: StreamFault & { code?: string }): string | undefined {
    return this.#encoder.errorEvent?.(fault);
  }
}

/**
 * Writes the answer of a second model as the rest of the first one's: without
 * a start of its own, text without what was told already, blocks numbered on,
 * tokens of both. What the second one thinks within a text is not told.
 */
export class ContinuingEncoder implements StreamEncoder {
  readonly #encoder: StreamEncoder;
  readonly #isWithinText: boolean;
  readonly #seam: Seam;
  readonly #usageBefore: ChatUsage | undefined;
  /** Kind and number there → number here. */
  readonly #blocks = new Map<string, number>();
  #nextBlock: number;
  /** The text that goes on; undefined until there is some. */
  #textBlock: number | undefined;
  readonly #toldBlock: number;

  constructor(told: ToldAnswer, encoder: StreamEncoder, seam: Omit<SeamOptions, 'told'>) {
    this.#encoder = new TellingEncoder(told, encoder);
    this.#isWithinText = told.text !== '';
    this.#seam = new Seam({ ...seam, told: told.text });
    this.#usageBefore = told.usage;
    this.#nextBlock = told.nextBlock;
    this.#toldBlock = told.textBlock;
  }

  encode(event: ChatStreamEvent): string {
    switch (event.type) {
      case 'reply-start':
        return '';
      case 'usage':
        return this.#encoder.encode({ ...event, usage: sumOf(this.#usageBefore, event.usage) });
      case 'fault':
        return this.#encoder.encode(event);
      case 'text-start':
        if (this.#isGoingOn(event.block)) return '';
        break;
      case 'text-delta': {
        if (!this.#isGoingOn(event.block)) break;
        this.#textBlock = event.block;
        const text = this.#seam.push(event.text);
        return text === '' ? '' : this.#encoder.encode({ ...event, block: this.#toldBlock, text });
      }
      case 'thinking-start':
      case 'thinking-delta':
      case 'thinking-signature':
      case 'redacted-thinking':
        return this.#isWithinText ? '' : this.#encoder.encode(this.#renumbered(event));
    }
    return this.#rest() + this.#encoder.encode(this.#renumbered(event));
  }

  errorEvent(fault: StreamFault & { code?: string }): string | undefined {
    return this.#encoder.errorEvent?.(fault);
  }

  /** Whether a text is the rest of what was told: the first one is. */
  #isGoingOn(block: number): boolean {
    return this.#isWithinText && (this.#textBlock ?? block) === block;
  }

  /** Of the text that was held as a possible repetition. */
  #rest(): string {
    const text = this.#seam.end();
    if (text === '') return '';
    return this.#encoder.encode({ type: 'text-delta', choice: 0, block: this.#toldBlock, text });
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

function sumOf(before: ChatUsage | undefined, usage: ChatUsage): ChatUsage {
  if (before === undefined) return usage;
  return {
    inputTokens: before.inputTokens + usage.inputTokens,
    outputTokens: before.outputTokens + usage.outputTokens,
    cacheReadTokens: before.cacheReadTokens + usage.cacheReadTokens,
    cacheWriteTokens: before.cacheWriteTokens + usage.cacheWriteTokens,
    cacheWrite1hTokens: before.cacheWrite1hTokens + usage.cacheWrite1hTokens,
    reasoningTokens: before.reasoningTokens + usage.reasoningTokens,
    inputAudioTokens: before.inputAudioTokens + usage.inputAudioTokens,
    outputAudioTokens: before.outputAudioTokens + usage.outputAudioTokens,
  };
}
