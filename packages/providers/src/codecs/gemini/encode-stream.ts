import type { ChatStreamEvent, ChatUsage, JsonObject } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import type { ReplyOptions, StreamEncoder } from '../chat-codec.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { candidateDetails, logprobsResult } from './candidates.ts';
import { errorEvent } from './errors.ts';
import { encodeSource } from './media.ts';
import { callPart, shownSignature, signedPart } from './reply.ts';
import { encodeFinishReason, encodeUsage, formatName } from './wire.ts';

interface OpenCall {
  choice: number;
  call: number;
  id: string;
  name: string;
  signature: string | undefined;
  arguments: string;
}

/**
 * Stream events → fragments of replies. Calls are told whole, so they are
 * gathered until something else follows; how the answers ended and the counts
 * come with the last fragment.
 */
export class GeminiStreamEncoder implements StreamEncoder {
  #options: ReplyOptions;
  #head: JsonObject | undefined;
  #calls: OpenCall[] = [];
  #finishes: JsonObject[] = [];
  #usage: ChatUsage = noUsage;

  constructor(options: ReplyOptions) {
    this.#options = options;
  }

  encode(event: ChatStreamEvent): string {
    switch (event.type) {
      case 'reply-start':
        this.#head = this.#headOf(event.id, event.model);
        return '';
      case 'text-delta':
        return this.#part(event.choice, { text: event.text }, logprobsResult(event.logprobs));
      case 'refusal-delta':
        return this.#part(event.choice, { text: event.text });
      case 'thinking-delta':
        return this.#part(event.choice, { text: event.text, thought: true });
      case 'text-signature':
        return this.#part(event.choice, signedPart({ text: '' }, event.signature));
      case 'thinking-signature':
        return this.#part(
          event.choice,
          signedPart({ text: '', thought: true }, shownSignature(event.signature)),
        );
      case 'image': {
        const part = encodeSource(event.source, 'image/jpeg');
        return this.#part(event.choice, signedPart(part, event.signature));
      }
      case 'foreign-part':
        return event.format === formatName ? this.#part(event.choice, event.value) : '';
      case 'tool-call-start': {
        const { choice, call, id, name, signature } = event;
        this.#calls.push({ choice, call, id, name, signature, arguments: '' });
        return '';
      }
      case 'tool-call-delta': {
        const open = this.#calls.find(
          ({ choice, call }) => choice === event.choice && call === event.call,
        );
        if (open !== undefined) open.arguments += event.arguments;
        return '';
      }
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#finishes.push({
          finishReason: encodeFinishReason(event.reason),
          index: event.choice,
          ...candidateDetails(event.details),
        });
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

  #headOf(id?: string, model?: string): JsonObject {
    const { provider, requestedModel } = this.#options;
    return {
      modelVersion: model ?? requestedModel ?? '',
      responseId: id ?? `${provider}-${ownAnswerId(this.#options)}`,
    };
  }

  #part(choice: number, part: JsonObject, more: JsonObject = {}): string {
    const candidate = { content: { role: 'model', parts: [part] }, index: choice, ...more };
    return this.#flushCalls() + this.#fragment({ candidates: [candidate] });
  }

  #flushCalls(): string {
    let out = '';
    for (const { choice, signature, ...call } of this.#calls.splice(0)) {
      const part = signedPart(callPart(call), signature);
      const candidate = { content: { role: 'model', parts: [part] }, index: choice };
      out += this.#fragment({ candidates: [candidate] });
    }
    return out;
  }

  #end(): string {
    const last = { candidates: this.#finishes, usageMetadata: encodeUsage(this.#usage) };
    return this.#flushCalls() + this.#fragment(last);
  }

  #fragment(body: JsonObject): string {
    this.#head ??= this.#headOf();
    return `data: ${JSON.stringify({ ...body, ...this.#head })}\n\n`;
  }
}
