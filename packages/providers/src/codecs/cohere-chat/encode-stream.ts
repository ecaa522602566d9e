import type { ChatStreamEvent, ChatUsage, JsonObject } from '@sluice/contracts';
import type { ReplyOptions, StreamEncoder } from '../chat-codec.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { errorEvent } from './errors.ts';
import { encodeFinishReason, encodeLogprobs, encodeUsage } from './wire.ts';

type Finish = Extract<ChatStreamEvent, { type: 'finish' }>;

/** Stream events → events of a message: one content open at a time, calls until the end. */
export class CohereStreamEncoder implements StreamEncoder {
  #options: ReplyOptions;
  #started = false;
  #id = '';
  #open: { kind: 'text' | 'thinking'; block: number } | undefined;
  #contents = 0;
  #calls: number[] = [];
  #usage: ChatUsage | undefined;
  #finish: Finish | undefined;

  constructor(options: ReplyOptions) {
    this.#options = options;
  }

  encode(event: ChatStreamEvent): string {
    // The format tells one answer: those beyond the first have no place.
    if ('choice' in event && event.choice !== 0) return '';
    switch (event.type) {
      case 'reply-start':
        return this.#start(event.id);
      case 'text-delta':
        return this.#content('text', event.block, { text: event.text }, event.logprobs);
      case 'refusal-delta':
        return this.#content('text', -1, { text: event.text });
      case 'thinking-delta':
        return this.#content('thinking', event.block, { thinking: event.text });
      case 'citation':
        return this.#citation(event.citation);
      case 'tool-call-start':
        this.#calls.push(event.call);
        return (
          this.#close() +
          this.#event('tool-call-start', event.call, {
            tool_calls: {
              id: event.id,
              type: 'function',
              function: { name: event.name, arguments: '' },
            },
          })
        );
      case 'tool-call-delta':
        return this.#event('tool-call-delta', event.call, {
          tool_calls: { function: { arguments: event.arguments } },
        });
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#finish = event;
        return '';
      case 'reply-end':
        return this.#end();
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

  #start(id?: string): string {
    if (this.#started) return '';
    this.#started = true;
    this.#id = id ?? `${this.#options.provider}-${ownAnswerId(this.#options)}`;
    const message = {
      role: 'assistant',
      content: [],
      tool_plan: '',
      tool_calls: [],
      citations: [],
    };
    return eventText('message-start', { id: this.#id, delta: { message } });
  }

  #event(type: string, index: number, message: JsonObject, more: JsonObject = {}): string {
    return this.#start() + eventText(type, { index, delta: { message }, ...more });
  }

  #content(
    kind: 'text' | 'thinking',
    block: number,
    content: JsonObject,
    logprobs?: JsonObject,
  ): string {
    let out = '';
    if (this.#open?.kind !== kind || this.#open.block !== block) {
      out += this.#close();
      this.#open = { kind, block };
      const empty = { type: kind, [kind]: '' };
      out += this.#event('content-start', this.#contents, { content: empty });
    }
    const [item] = logprobs === undefined ? [] : encodeLogprobs(logprobs);
    const more: JsonObject = item === undefined ? {} : { logprobs: item };
    return out + this.#event('content-delta', this.#contents, { content }, more);
  }

  /** Only what is in this format's words: others cite by other means. */
  #citation(citation: JsonObject): string {
    if (!Array.isArray(citation.sources)) return '';
    const index = this.#contents;
    return (
      this.#event('citation-start', index, {
        citations: { ...citation, content_index: index },
      }) + eventText('citation-end', { index })
    );
  }

  #close(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    return eventText('content-end', { index: this.#contents++ });
  }

  #end(): string {
    let out = this.#start() + this.#close();
    for (const call of this.#calls) out += eventText('tool-call-end', { index: call });
    const reason = encodeFinishReason(this.#finish?.reason ?? 'stop', this.#finish?.stopSequence);
    const usage: JsonObject = this.#usage === undefined ? {} : { usage: encodeUsage(this.#usage) };
    const delta = { finish_reason: reason, ...usage };
    return out + eventText('message-end', { id: this.#id, delta });
  }
}

function eventText(type: string, body: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
