import type { ChatStreamEvent, ChatUsage, JsonObject } from '@sluice/contracts';
import type { ReplyOptions, StreamEncoder } from '../chat-codec.ts';
import { errorEvent } from '../openai-chat/errors.ts';
import { finishReasonOf } from '../openai-chat/reply.ts';
import { encodeUsage } from '../openai-chat/wire.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { encodeLogprobs } from './reply.ts';

type Start = Extract<ChatStreamEvent, { type: 'reply-start' }>;

/** Stream events → chunks of completions. Thinking has no place here. */
export class OpenAiCompletionsStreamEncoder implements StreamEncoder {
  #options: ReplyOptions;
  #head: JsonObject | undefined;
  #usage: ChatUsage | undefined;
  /** How much text each choice has so far. */
  #offsets = new Map<number, number>();

  constructor(options: ReplyOptions) {
    this.#options = options;
  }

  encode(event: ChatStreamEvent): string {
    switch (event.type) {
      case 'reply-start':
        this.#head = this.#headOf(event);
        return '';
      case 'text-delta':
        return this.#text(event.choice, event.text, event.logprobs);
      case 'refusal-delta':
        return this.#text(event.choice, event.text, undefined);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish': {
        const { choice, reason, raw } = event;
        return this.#chunk([
          {
            text: '',
            index: choice,
            logprobs: null,
            finish_reason: finishReasonOf(reason, raw, false, this.#options.strict),
          },
        ]);
      }
      case 'reply-end':
        return `${this.#usage === undefined ? '' : this.#chunk([])}data: [DONE]\n\n`;
      case 'fault':
        return errorEvent({
          type: event.kind,
          message: `${this.#options.provider} error: ${event.message}`,
          status: event.status,
        }).toString();
      default:
        return '';
    }
  }

  #headOf(event: Start): JsonObject {
    const { provider, nowMs, requestedModel } = this.#options;
    return {
      id: event.id ?? `cmpl-${provider}-${ownAnswerId(this.#options)}`,
      object: 'text_completion',
      created: event.createdSeconds ?? Math.floor(nowMs / 1000),
      model: event.model ?? requestedModel ?? '',
      provider,
    };
  }

  #text(choice: number, text: string, logprobs: JsonObject | undefined): string {
    const offset = this.#offsets.get(choice) ?? 0;
    this.#offsets.set(choice, offset + text.length);
    return this.#chunk([
      {
        text,
        index: choice,
        logprobs: logprobs === undefined ? null : encodeLogprobs(logprobs, offset),
        finish_reason: null,
      },
    ]);
  }

  /** Usage that is known goes out with the next chunk. */
  #chunk(choices: JsonObject[]): string {
    this.#head ??= this.#headOf({ type: 'reply-start' });
    const chunk: JsonObject = { ...this.#head, choices };
    const finishes = choices.length === 0 || choices[0]?.finish_reason !== null;
    if (finishes && this.#usage !== undefined) {
      chunk.usage = encodeUsage(this.#usage);
      this.#usage = undefined;
    }
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}
