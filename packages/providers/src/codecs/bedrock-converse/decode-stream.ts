import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import { numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { StreamDecoder } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { decodeCitation } from './citations.ts';
import { faultOf } from './errors.ts';
import { stopSequenceOf } from './reply.ts';
import { decodeStopReason, exception, formatName, usageOf } from './wire.ts';

type Finish = Extract<ChatStreamEvent, { type: 'finish' }>;

/** Events → stream events. Tool calls are numbered from 0, in the order they open. */
export class ConverseStreamDecoder implements StreamDecoder {
  /** Block index → number of the tool call it is. */
  #calls = new Map<number, number>();
  /** Tool blocks that have sent no input yet. */
  #silent = new Set<number>();
  /** Known from `messageStop`, told once the usage that follows is. */
  #finish: Finish | undefined;
  #ended = false;

  decode(event: SseEvent): ChatStreamEvent[] {
    if (event.data.trim() === '') return [];
    const body = parseObject(event.data);
    if (body === undefined) return [invalid];
    const block = numberOf(body.contentBlockIndex) ?? 0;
    switch (event.name) {
      case 'messageStart':
        return [{ type: 'reply-start' }];
      case 'contentBlockStart':
        return this.#blockStart(block, objectOf(body.start) ?? {});
      case 'contentBlockDelta':
        return this.#blockDelta(block, objectOf(body.delta) ?? {});
      case 'contentBlockStop':
        return this.#blockStop(block);
      case 'messageStop':
        this.#finish = finishOf(body);
        return [];
      case 'metadata':
        return this.#metadata(body);
      case exception:
        return [fault(body)];
      default:
        // Events newer than this code.
        return [];
    }
  }

  /** Stopped is whole, even where the usage did not come. */
  end(): ChatStreamEvent[] {
    return this.#finish === undefined ? [] : this.#end();
  }

  #metadata(body: JsonObject): ChatStreamEvent[] {
    const usage = usageOf(objectOf(body.usage));
    // What a guardrail found comes last, told where the request asked for it.
    if (this.#finish !== undefined && body.trace !== undefined)
      this.#finish = { ...this.#finish, details: { trace: body.trace } };
    const out: ChatStreamEvent[] = usage === undefined ? [] : [{ type: 'usage', usage }];
    out.push({ type: 'bill', bill: readBill(body) });
    return this.#finish === undefined ? out : [...out, ...this.#end()];
  }

  #end(): ChatStreamEvent[] {
    if (this.#ended || this.#finish === undefined) return [];
    this.#ended = true;
    return [this.#finish, { type: 'reply-end' }];
  }

  #blockStart(block: number, start: JsonObject): ChatStreamEvent[] {
    const toolUse = objectOf(start.toolUse);
    if (toolUse === undefined)
      return Object.keys(start).length === 0
        ? []
        : [{ type: 'foreign-part', choice: 0, block, format: formatName, value: start }];
    const call = this.#calls.size;
    this.#calls.set(block, call);
    this.#silent.add(block);
    const id = stringOf(toolUse.toolUseId) ?? '';
    const name = stringOf(toolUse.name) ?? '';
    return [{ type: 'tool-call-start', choice: 0, block, call, id, name }];
  }

  #blockDelta(block: number, delta: JsonObject): ChatStreamEvent[] {
    const text = stringOf(delta.text);
    if (text !== undefined) return [{ type: 'text-delta', choice: 0, block, text }];
    const piece = stringOf(objectOf(delta.toolUse)?.input);
    if (piece !== undefined) return this.#toolDelta(block, piece);
    const citation = objectOf(delta.citation);
    if (citation !== undefined)
      return [{ type: 'citation', choice: 0, block, citation: decodeCitation(citation) }];
    const reasoning = objectOf(delta.reasoningContent);
    if (reasoning !== undefined) return reasoningDelta(block, reasoning);
    // A delta without any of these is of a kind newer than this code.
    return Object.keys(delta).length === 0
      ? []
      : [{ type: 'foreign-part', choice: 0, block, format: formatName, value: delta }];
  }

  #toolDelta(block: number, piece: string): ChatStreamEvent[] {
    const call = this.#calls.get(block);
    if (call === undefined || piece === '') return [];
    this.#silent.delete(block);
    return [{ type: 'tool-call-delta', choice: 0, block, call, arguments: piece }];
  }

  /** A call without input has the empty object for arguments, which other formats must spell out. */
  #blockStop(block: number): ChatStreamEvent[] {
    const call = this.#calls.get(block);
    if (call === undefined || !this.#silent.delete(block)) return [];
    return [{ type: 'tool-call-delta', choice: 0, block, call, arguments: '{}' }];
  }
}

function reasoningDelta(block: number, reasoning: JsonObject): ChatStreamEvent[] {
  const text = stringOf(reasoning.text);
  if (text !== undefined) return [{ type: 'thinking-delta', choice: 0, block, text }];
  const signature = stringOf(reasoning.signature);
  if (signature !== undefined) return [{ type: 'thinking-signature', choice: 0, block, signature }];
  const data = stringOf(reasoning.redactedContent);
  return data === undefined ? [] : [{ type: 'redacted-thinking', choice: 0, block, data }];
}

function finishOf(body: JsonObject): Finish {
  const raw = stringOf(body.stopReason);
  const stopSequence = stopSequenceOf(body);
  return {
    type: 'finish',
    choice: 0,
    reason: raw === undefined ? 'other' : decodeStopReason(raw),
    ...(raw !== undefined && { raw }),
    ...(stopSequence !== undefined && { stopSequence }),
  };
}

function fault(body: JsonObject): ChatStreamEvent {
  const { type: kind, message, status } = faultOf(body);
  return { type: 'fault', kind, message, status };
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
