import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import { numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { StreamDecoder } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { decodeFinishReason, decodeLogprobs, usageOf } from './wire.ts';

/**
 * Events → stream events. The format numbers contents and calls apart, and its
 * plan not at all: blocks are numbered in the order they first appear.
 */
export class CohereStreamDecoder implements StreamDecoder {
  #blocks = new Map<string, number>();
  /** The wire's index of a call → its number from 0. */
  #calls = new Map<number, number>();
  /** Calls of which arguments were told. */
  #told = new Set<number>();

  decode(event: SseEvent): ChatStreamEvent[] {
    if (event.data.trim() === '' || event.data === '[DONE]') return [];
    const body = parseObject(event.data);
    if (body === undefined) return [invalid];
    const delta = objectOf(body.delta) ?? {};
    const message = objectOf(delta.message) ?? {};
    const index = numberOf(body.index) ?? 0;
    switch (body.type ?? event.name) {
      case 'message-start':
        return [{ type: 'reply-start', id: stringOf(body.id) }];
      case 'content-start':
        return this.#content(index, objectOf(message.content) ?? {}, true, body);
      case 'content-delta':
        return this.#content(index, objectOf(message.content) ?? {}, false, body);
      case 'tool-plan-delta': {
        const text = stringOf(message.tool_plan);
        return text
          ? [{ type: 'thinking-delta', choice: 0, block: this.#block('plan'), text }]
          : [];
      }
      case 'tool-call-start':
        return this.#callStart(index, objectOf(message.tool_calls) ?? {});
      case 'tool-call-delta': {
        const piece = stringOf(objectOf(objectOf(message.tool_calls)?.function)?.arguments);
        return piece ? this.#callDelta(index, piece) : [];
      }
      case 'citation-start': {
        const citation = objectOf(message.citations) ?? {};
        const block = this.#block(`content:${numberOf(citation.content_index) ?? 0}`);
        return [{ type: 'citation', choice: 0, block, citation }];
      }
      case 'message-end':
        return end(delta);
      default:
        return unknown(body);
    }
  }

  /** A message that was not ended is cut, whatever came before. */
  end(): ChatStreamEvent[] {
    return [];
  }

  #block(key: string): number {
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const next = this.#blocks.size;
    this.#blocks.set(key, next);
    return next;
  }

  #content(
    index: number,
    content: JsonObject,
    isStart: boolean,
    body: JsonObject,
  ): ChatStreamEvent[] {
    const block = this.#block(`content:${index}`);
    const thinking = stringOf(content.thinking);
    const isThinking = content.type === 'thinking' || (thinking !== undefined && !content.text);
    const out: ChatStreamEvent[] = [];
    if (isStart) out.push({ type: isThinking ? 'thinking-start' : 'text-start', choice: 0, block });
    if (thinking) out.push({ type: 'thinking-delta', choice: 0, block, text: thinking });
    const text = stringOf(content.text);
    if (!text) return out;
    const item = objectOf(body.logprobs);
    const logprobs = item === undefined ? {} : { logprobs: decodeLogprobs([item]) };
    out.push({ type: 'text-delta', choice: 0, block, text, ...logprobs });
    return out;
  }

  #callStart(index: number, value: JsonObject): ChatStreamEvent[] {
    const call = this.#calls.get(index) ?? this.#calls.size;
    this.#calls.set(index, call);
    const block = this.#block(`call:${index}`);
    const fn = objectOf(value.function);
    const id = stringOf(value.id) ?? '';
    const name = stringOf(fn?.name) ?? '';
    const start: ChatStreamEvent = { type: 'tool-call-start', choice: 0, block, call, id, name };
    const piece = stringOf(fn?.arguments);
    return piece ? [start, ...this.#callDelta(index, piece)] : [start];
  }

  #callDelta(index: number, piece: string): ChatStreamEvent[] {
    const call = this.#calls.get(index);
    if (call === undefined) return [];
    const block = this.#block(`call:${index}`);
    // A call without arguments has the word for them, which begins no object.
    const isNone = piece === 'null' && !this.#told.has(index);
    this.#told.add(index);
    const told = isNone ? '{}' : piece;
    return [{ type: 'tool-call-delta', choice: 0, block, call, arguments: told }];
  }
}

function end(delta: JsonObject): ChatStreamEvent[] {
  const error = stringOf(delta.error);
  if (error) return [{ type: 'fault', kind: 'upstream_error', message: error, status: 502 }];
  const usage = usageOf(objectOf(delta.usage));
  const raw = stringOf(delta.finish_reason) ?? 'COMPLETE';
  const out: ChatStreamEvent[] = usage ? [{ type: 'usage', usage }] : [];
  out.push({ type: 'bill', bill: readBill(delta) });
  out.push({ type: 'finish', choice: 0, reason: decodeFinishReason(raw), raw });
  out.push({ type: 'reply-end' });
  return out;
}

/** An answer's error may come as an event of its own; all else is newer than this code. */
function unknown(body: JsonObject): ChatStreamEvent[] {
  const message = body.type === undefined ? stringOf(body.message) : undefined;
  if (message === undefined) return [];
  return [{ type: 'fault', kind: 'upstream_error', message, status: 502 }];
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
