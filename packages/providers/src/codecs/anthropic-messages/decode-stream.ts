import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import { faultEvent } from '../../errors/vendor-fault.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import { numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { StreamDecoder } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { faultOf } from './errors.ts';
import {
  decodeServiceTier,
  decodeStopReason,
  formatName,
  mergeUsage,
  tellsOutput,
  usageOf,
} from './wire.ts';

/** Nearly every event, as the vendor spells it, and without escapes: read at a third of a parser's cost. */
const plainTextDelta =
  /^\{"type":"content_block_delta","index":(0|[1-9]\d{0,8}),"delta":\{"type":"text_delta","text":"([^"\\\p{Cc}]*)"\} *\}$/u;

/** Events → stream events. Tool blocks are numbered from 0, in the order they open. */
export class AnthropicStreamDecoder implements StreamDecoder {
  #usage: JsonObject = {};
  /** Block index → number of the tool call it is. */
  #calls = new Map<number, number>();
  /** Tool blocks that have sent no input yet. */
  #silent = new Set<number>();

  decode(event: SseEvent): ChatStreamEvent[] {
    const plain = plainTextDelta.exec(event.data);
    if (plain !== null)
      return [{ type: 'text-delta', choice: 0, block: Number(plain[1]), text: plain[2] as string }];
    const body = parseObject(event.data);
    if (body === undefined) return event.data.trim() === '' ? [] : [invalid];
    switch (body.type) {
      case 'message_start':
        return this.#start(objectOf(body.message) ?? {});
      case 'content_block_start':
        return this.#blockStart(numberOf(body.index) ?? 0, objectOf(body.content_block) ?? {});
      case 'content_block_delta':
        return this.#blockDelta(numberOf(body.index) ?? 0, objectOf(body.delta) ?? {});
      case 'content_block_stop':
        return this.#blockStop(numberOf(body.index) ?? 0);
      case 'message_delta':
        return this.#messageDelta(body);
      case 'message_stop':
        return [{ type: 'reply-end' }];
      case 'error': {
        const fault = faultOf(body);
        if (fault === undefined) return [invalid];
        return [faultEvent(fault)];
      }
      default:
        // ping, and events newer than this code.
        return [];
    }
  }

  /** A message that was not stopped is cut, whatever came before. */
  end(): ChatStreamEvent[] {
    return [];
  }

  #start(message: JsonObject): ChatStreamEvent[] {
    this.#usage = objectOf(message.usage) ?? {};
    return [
      {
        type: 'reply-start',
        id: stringOf(message.id),
        model: stringOf(message.model),
        serviceTier: decodeServiceTier(this.#usage),
      },
      ...this.#toldUsage(true),
    ];
  }

  #toldUsage(isBegun: boolean): ChatStreamEvent[] {
    const usage = usageOf(this.#usage);
    const bill: ChatStreamEvent = { type: 'bill', bill: readBill(this.#usage) };
    if (usage === undefined) return [bill];
    const told = { type: 'usage', usage } as const;
    return [isBegun ? { ...told, isBegun } : told, bill];
  }

  #blockStart(block: number, value: JsonObject): ChatStreamEvent[] {
    switch (value.type) {
      case 'text': {
        const text = stringOf(value.text);
        const start: ChatStreamEvent = { type: 'text-start', choice: 0, block };
        return text ? [start, { type: 'text-delta', choice: 0, block, text }] : [start];
      }
      case 'thinking': {
        const text = stringOf(value.thinking);
        const start: ChatStreamEvent = { type: 'thinking-start', choice: 0, block };
        return text ? [start, { type: 'thinking-delta', choice: 0, block, text }] : [start];
      }
      case 'redacted_thinking':
        return [{ type: 'redacted-thinking', choice: 0, block, data: stringOf(value.data) ?? '' }];
      case 'tool_use':
        return this.#toolStart(block, value);
      default:
        return [{ type: 'foreign-part', choice: 0, block, format: formatName, value }];
    }
  }

  #toolStart(block: number, value: JsonObject): ChatStreamEvent[] {
    const call = this.#calls.size;
    this.#calls.set(block, call);
    this.#silent.add(block);
    const id = stringOf(value.id) ?? '';
    const name = stringOf(value.name) ?? '';
    const start: ChatStreamEvent = { type: 'tool-call-start', choice: 0, block, call, id, name };
    const input = objectOf(value.input);
    // Some compatible servers send the whole input at once.
    if (input === undefined || Object.keys(input).length === 0) return [start];
    this.#silent.delete(block);
    return [
      start,
      { type: 'tool-call-delta', choice: 0, block, call, arguments: JSON.stringify(input) },
    ];
  }

  #blockDelta(block: number, delta: JsonObject): ChatStreamEvent[] {
    switch (delta.type) {
      case 'text_delta':
        return [{ type: 'text-delta', choice: 0, block, text: stringOf(delta.text) ?? '' }];
      case 'input_json_delta': {
        const call = this.#calls.get(block);
        const piece = stringOf(delta.partial_json);
        // Server tools stream their input too; only calls of the caller's tools are its business.
        if (call === undefined || !piece) return [];
        this.#silent.delete(block);
        return [{ type: 'tool-call-delta', choice: 0, block, call, arguments: piece }];
      }
      case 'thinking_delta':
        return [{ type: 'thinking-delta', choice: 0, block, text: stringOf(delta.thinking) ?? '' }];
      case 'signature_delta':
        return [
          {
            type: 'thinking-signature',
            choice: 0,
            block,
            signature: stringOf(delta.signature) ?? '',
          },
        ];
      case 'citations_delta':
        return [{ type: 'citation', choice: 0, block, citation: objectOf(delta.citation) ?? {} }];
      default:
        return [];
    }
  }

  /** A call without input has the empty object for arguments, which other formats must spell out. */
  #blockStop(block: number): ChatStreamEvent[] {
    const call = this.#calls.get(block);
    if (call === undefined || !this.#silent.has(block)) return [];
    return [{ type: 'tool-call-delta', choice: 0, block, call, arguments: '{}' }];
  }

  #messageDelta(body: JsonObject): ChatStreamEvent[] {
    this.#usage = mergeUsage(this.#usage, objectOf(body.usage) ?? {});
    const out = this.#toldUsage(!tellsOutput(body.usage));
    const delta = objectOf(body.delta);
    const raw = stringOf(delta?.stop_reason);
    if (raw !== undefined) {
      const stopSequence = stringOf(delta?.stop_sequence);
      const reason = decodeStopReason(raw);
      out.push({
        type: 'finish',
        choice: 0,
        reason,
        raw,
        ...(stopSequence !== undefined && { stopSequence }),
      });
    }
    return out;
  }
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
