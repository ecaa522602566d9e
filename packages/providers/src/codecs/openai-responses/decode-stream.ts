import type { ChatStreamEvent, JsonObject, JsonValue } from '@sluice/contracts';
import { faultEvent } from '../../errors/vendor-fault.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import { arrayOf, numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { StreamDecoder } from '../chat-codec.ts';
import { customArguments } from '../custom-tools.ts';
import { readBill } from './bill.ts';
import { isCallersOwn } from './callers-own.ts';
import { faultOf } from './errors.ts';
import { decodePicture } from './pictures.ts';
import { signatureOf, thoughtOf, thoughtSeparator } from './sealed-thinking.ts';
import { decodeFinish, formatName, rawFinishOf, usageOf } from './wire.ts';

interface Call {
  block: number;
  call: number;
  hasArguments: boolean;
}

/**
 * Events → stream events. A block is a part of a message, a reasoning item or
 * a call, numbered as they come. Items whose pieces were not told are read
 * from where they are told whole.
 */
export class ResponsesStreamDecoder implements StreamDecoder {
  readonly drawsWith = 'imageGenerations';
  #hasStarted = false;
  #tools: JsonValue | undefined;
  #blocks = new Map<string, number>();
  /** Parts of messages of which something was told. */
  #told = new Set<string>();
  #calls = new Map<number, Call>();
  /** Reasoning items: which of the two ways of showing a thought they use, and its part told last. */
  #thoughts = new Map<number, { shows: string; part: number }>();

  decode(event: SseEvent): ChatStreamEvent[] {
    const data = event.data.trim();
    if (data === '' || data === '[DONE]') return [];
    const body = parseObject(data);
    if (body === undefined) return [invalid];
    const type = stringOf(body.type) ?? event.name;
    const at = numberOf(body.output_index) ?? 0;
    switch (type) {
      case 'response.created':
        return this.#start(objectOf(body.response) ?? {});
      case 'response.output_item.added':
        return this.#itemAdded(at, objectOf(body.item) ?? {});
      case 'response.output_item.done':
        return this.#itemDone(at, objectOf(body.item) ?? {});
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(objectOf(body.response) ?? {}, type);
      case 'response.failed':
        return [...usageEvents(objectOf(body.response) ?? {}), ...faultEvents(body)];
      case 'error':
        return faultEvents(body);
      case '':
        return faultOf(body) === undefined ? [] : faultEvents(body);
      default:
        return this.#piece(type, at, body);
    }
  }

  /** A response that did not end is cut, whatever came before. */
  end(): ChatStreamEvent[] {
    return [];
  }

  #piece(type: string, at: number, body: JsonObject): ChatStreamEvent[] {
    const delta = stringOf(body.delta) ?? '';
    const part = numberOf(body.content_index) ?? 0;
    switch (type) {
      case 'response.content_part.added':
        // The first part is opened with its message.
        if (part === 0 || objectOf(body.part)?.type !== 'output_text') return [];
        return [{ type: 'text-start', choice: 0, block: this.#block(`${at}.${part}`) }];
      case 'response.output_text.delta':
        return this.#text(at, part, delta, body);
      case 'response.output_text.annotation.added': {
        const block = this.#block(`${at}.${part}`);
        return [{ type: 'citation', choice: 0, block, citation: objectOf(body.annotation) ?? {} }];
      }
      case 'response.refusal.delta':
        this.#told.add(`${at}.${part}`);
        return [{ type: 'refusal-delta', choice: 0, text: delta }];
      case 'response.reasoning_summary_text.delta':
        return this.#thought(at, 'summary', numberOf(body.summary_index) ?? 0, delta);
      case 'response.reasoning_text.delta':
        return this.#thought(at, 'content', part, delta);
      case 'response.function_call_arguments.delta':
        return this.#arguments(at, delta);
      default:
        // Progress of the provider's own tools, ends of what was told, events newer than this code.
        return [];
    }
  }

  #start(response: JsonObject): ChatStreamEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    this.#tools = response.tools;
    return [
      {
        type: 'reply-start',
        id: stringOf(response.id),
        model: stringOf(response.model),
        createdSeconds: numberOf(response.created_at),
        serviceTier: stringOf(response.service_tier),
      },
      { type: 'bill', bill: readBill(response) },
    ];
  }

  #block(key: string): number {
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const block = this.#blocks.size;
    this.#blocks.set(key, block);
    return block;
  }

  #itemAdded(at: number, item: JsonObject): ChatStreamEvent[] {
    switch (item.type) {
      case 'function_call':
        return this.#callStart(at, item);
      case 'custom_tool_call':
        return isCallersOwn(item, this.#tools) ? this.#callStart(at, item) : [];
      case 'reasoning':
        return [{ type: 'thinking-start', choice: 0, block: this.#block(`${at}`) }];
      case 'message':
        return [{ type: 'text-start', choice: 0, block: this.#block(`${at}.0`) }];
      default:
        return [];
    }
  }

  #callStart(at: number, item: JsonObject): ChatStreamEvent[] {
    if (this.#calls.has(at)) return [];
    const block = this.#block(`${at}`);
    const call = this.#calls.size;
    this.#calls.set(at, { block, call, hasArguments: false });
    const id = stringOf(item.call_id) ?? '';
    const name = stringOf(item.name) ?? '';
    return [{ type: 'tool-call-start', choice: 0, block, call, id, name }];
  }

  #arguments(at: number, piece: string): ChatStreamEvent[] {
    const found = this.#calls.get(at);
    if (found === undefined || piece === '') return [];
    found.hasArguments = true;
    const { block, call } = found;
    return [{ type: 'tool-call-delta', choice: 0, block, call, arguments: piece }];
  }

  #text(at: number, part: number, text: string, body: JsonObject): ChatStreamEvent[] {
    const block = this.#block(`${at}.${part}`);
    if (text === '') return [];
    this.#told.add(`${at}.${part}`);
    const content = arrayOf(body.logprobs) ?? [];
    const logprobs = content.length === 0 ? {} : { logprobs: { content, refusal: null } };
    return [{ type: 'text-delta', choice: 0, block, text, ...logprobs }];
  }

  #thought(at: number, shows: string, part: number, text: string): ChatStreamEvent[] {
    const block = this.#block(`${at}`);
    const told = this.#thoughts.get(at) ?? { shows, part };
    this.#thoughts.set(at, told);
    // A summary beside the thoughts themselves would tell all twice.
    if (text === '' || told.shows !== shows) return [];
    const separator = told.part === part ? '' : thoughtSeparator;
    told.part = part;
    return [{ type: 'thinking-delta', choice: 0, block, text: separator + text }];
  }

  #itemDone(at: number, item: JsonObject): ChatStreamEvent[] {
    switch (item.type) {
      case 'function_call': {
        const start = this.#callStart(at, item);
        const hasArguments = this.#calls.get(at)?.hasArguments === true;
        return hasArguments
          ? start
          : [...start, ...this.#arguments(at, stringOf(item.arguments) ?? '')];
      }
      // Its pieces are no JSON: the arguments are made of the whole.
      case 'custom_tool_call': {
        if (!isCallersOwn(item, this.#tools)) return [this.#foreign(at, item)];
        const start = this.#callStart(at, item);
        return [...start, ...this.#arguments(at, customArguments(stringOf(item.input) ?? ''))];
      }
      case 'reasoning':
        return this.#thoughtDone(at, item);
      case 'message':
        return this.#messageDone(at, item);
      default: {
        const picture = decodePicture(item);
        if (picture === undefined) return [this.#foreign(at, item)];
        const block = this.#block(`${at}`);
        return [{ type: 'image', choice: 0, block, source: picture.source }];
      }
    }
  }

  #foreign(at: number, value: JsonObject): ChatStreamEvent {
    const block = this.#block(`${at}`);
    return { type: 'foreign-part', choice: 0, block, format: formatName, value };
  }

  #thoughtDone(at: number, item: JsonObject): ChatStreamEvent[] {
    const block = this.#block(`${at}`);
    const out = this.#thoughts.has(at) ? [] : this.#thought(at, 'summary', 0, thoughtOf(item));
    const encrypted = stringOf(item.encrypted_content);
    if (encrypted !== undefined)
      out.push({
        type: 'thinking-signature',
        choice: 0,
        block,
        signature: signatureOf(encrypted),
      });
    return out;
  }

  #messageDone(at: number, item: JsonObject): ChatStreamEvent[] {
    // Bedrock numbers the parts of a message differently where it tells them whole.
    const isTold = [...this.#told].some((key) => key.startsWith(`${at}.`));
    const content = arrayOf(item.content) ?? [];
    if (isTold && content.length === 1) return [];
    return content.flatMap((value, index): ChatStreamEvent[] => {
      const part = objectOf(value) ?? {};
      if (this.#told.has(`${at}.${index}`)) return [];
      if (part.type === 'refusal')
        return [{ type: 'refusal-delta', choice: 0, text: stringOf(part.refusal) ?? '' }];
      return this.#text(at, index, stringOf(part.text) ?? '', part);
    });
  }

  #end(response: JsonObject, type: string): ChatStreamEvent[] {
    const out = this.#start(response);
    out.push(...usageEvents(response));
    const status = type.slice('response.'.length);
    const ended = { ...response, status };
    const reason = decodeFinish(ended, this.#calls.size > 0);
    out.push({ type: 'finish', choice: 0, reason, raw: rawFinishOf(ended) ?? status });
    out.push({ type: 'reply-end' });
    return out;
  }
}

function usageEvents(response: JsonObject): ChatStreamEvent[] {
  const usage = usageOf(objectOf(response.usage));
  const bill: ChatStreamEvent = { type: 'bill', bill: readBill(response) };
  return usage === undefined ? [bill] : [{ type: 'usage', usage }, bill];
}

function faultEvents(body: JsonObject): ChatStreamEvent[] {
  const fault = faultOf(body);
  if (fault === undefined) return [invalid];
  return [faultEvent(fault)];
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
