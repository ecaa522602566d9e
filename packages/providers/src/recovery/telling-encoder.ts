import type { ChatStreamEvent, ChatUsage } from '@sluice/contracts';
import type { StreamEncoder } from '../codecs/chat-codec.ts';
import type { StreamFault } from '../contract.ts';
import type { ToldAnswer } from './told-answer.ts';

/** Notes what is told, and has it written; a fault waits for whether others go on. */
export class TellingEncoder implements StreamEncoder {
  readonly #told: ToldAnswer;
  readonly #encoder: StreamEncoder;

  constructor(told: ToldAnswer, encoder: StreamEncoder) {
    this.#told = told;
    this.#encoder = encoder;
  }

  encode(event: ChatStreamEvent): string {
    this.#told.note(event);
    return event.type === 'fault' ? '' : this.#encoder.encode(event);
  }

  errorEvent(fault: StreamFault & { code?: string }): string | undefined {
    return this.#encoder.errorEvent?.(fault);
  }
}

/** Writes the rest of an answer: without a start of its own, with the tokens of all parts. */
export class RestEncoder extends TellingEncoder {
  readonly #usageBefore: ChatUsage | undefined;

  constructor(told: ToldAnswer, encoder: StreamEncoder) {
    super(told, encoder);
    this.#usageBefore = told.usage;
  }

  override encode(event: ChatStreamEvent): string {
    if (event.type === 'reply-start') return '';
    if (event.type !== 'usage') return super.encode(event);
    return super.encode({ ...event, usage: sumOf(this.#usageBefore, event.usage) });
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
