import type { ChatStreamEvent, ChatUsage, FinishReason, JsonObject } from '@sluice/contracts';
import type { StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { arrayOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { ReplyOptions, StreamEncoder } from '../chat-codec.ts';
import { type AskedTool, askedTools } from './asked-tools.ts';
import { EventWriter } from './event-writer.ts';
import { added, done, OpenCall, type OpenItem, OpenReasoning, OpenToolCall } from './open-items.ts';
import { OpenMessage } from './open-message.ts';
import { logprobsOf, reasoningItem } from './output-items.ts';
import { encodePicture } from './pictures.ts';
import {
  endState,
  headOf,
  itemId,
  type ResponseHead,
  type ResponseState,
  responseObject,
} from './response-object.ts';
import { sealForCaller, sealPart } from './sealed-thinking.ts';
import { ToldResponse } from './told-response.ts';

/**
 * Stream events → events of a response. An item is open until something else
 * begins, as at the vendor: clients gather items as they end (Codex, the AI SDK),
 * and send them back in that order. A call that is not whole by then stays open
 * to the end, since pieces of parallel ones may alternate.
 */
export class ResponsesStreamEncoder implements StreamEncoder {
  #options: ReplyOptions;
  #writer = new EventWriter();
  #head: ResponseHead | undefined;
  #open: OpenMessage | OpenReasoning | undefined;
  #calls = new Map<number, OpenCall | OpenToolCall>();
  #asked: ReadonlyMap<string, AskedTool>;
  /** By their places; an item takes its own when it is over. */
  #output: JsonObject[] = [];
  #items = 0;
  #usage: ChatUsage | undefined;
  #finish: FinishReason = 'stop';

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.#asked = askedTools(options.request);
  }

  /** Goes on with a response of which these events went out as they came; undefined = it cannot end it. */
  static resume(
    options: ReplyOptions,
    sent: readonly SseEvent[],
    textBlock: number,
  ): ResponsesStreamEncoder | undefined {
    const encoder = new ResponsesStreamEncoder(options);
    const told = new ToldResponse();
    for (const { data } of sent) told.read(parseObject(data) ?? {});
    if (told.hasGaps || !told.items.every(({ canBeEnded }) => canBeEnded)) return undefined;
    encoder.#adopt(told, textBlock);
    return encoder;
  }

  #adopt(told: ToldResponse, textBlock: number): void {
    this.#head = told.head;
    this.#items = told.items.length;
    for (const [index, toldItem] of told.items.entries()) {
      const { item, isDone } = toldItem;
      const id = stringOf(item.id) ?? '';
      if (isDone) this.#output[index] = item;
      else if (item.type === 'message') {
        this.#open = new OpenMessage(this.#writer, index, id);
        this.#open.adopt(toldItem.parts, textBlock);
      } else if (item.type === 'reasoning') {
        this.#open = new OpenReasoning(this.#writer, index, id, -1);
        this.#open.adopt(toldItem.summaries);
      } else {
        const named = { callId: stringOf(item.call_id) ?? '', name: stringOf(item.name) ?? '' };
        const call = new OpenCall(this.#writer, index, id, named, this.#asked.get(named.name));
        call.adopt(toldItem.arguments, toldItem.areArgumentsDone);
        this.#calls.set(this.#calls.size, call);
      }
    }
    this.#writer.goOnFrom(told.nextSequence);
  }

  encode(event: ChatStreamEvent): string {
    // The format tells one answer: those beyond the first have no place.
    if ('choice' in event && event.choice !== 0) return '';
    switch (event.type) {
      case 'reply-start':
        return this.#start(event);
      case 'text-delta': {
        const logprobs = logprobsOf(arrayOf(event.logprobs?.content) ?? []);
        return this.#inMessage((message) => message.text(event.block, event.text, logprobs));
      }
      case 'refusal-delta':
        return this.#inMessage((message) => message.refusal(event.text));
      case 'citation':
        return this.#inMessage((message) => message.cite(event.block, event.citation));
      case 'thinking-delta':
        return this.#inReasoning(event.block, (thought) => thought.think(event.text));
      case 'thinking-signature':
        return this.#seal(event.block, { type: 'thinking', text: '', signature: event.signature });
      case 'redacted-thinking':
        return this.#seal(event.block, { type: 'redacted-thinking', data: event.data });
      case 'text-signature':
        return (
          this.#inMessage((message) => message.touch(event.block)) + this.#prove(event.signature)
        );
      case 'image': {
        const drawn = this.#whole('ig', (id) => encodePicture(event.source, id));
        return drawn === '' ? '' : drawn + this.#prove(event.signature);
      }
      case 'tool-call-start':
        return this.#callStart(event);
      case 'tool-call-delta':
        return this.#calls.get(event.call)?.add(event.arguments) ?? '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#finish = event.reason;
        return '';
      case 'reply-end':
        return this.#end();
      case 'fault':
        return this.#fail(event);
      default:
        return '';
    }
  }

  errorEvent(fault: StreamFault & { code?: string }): string {
    return this.#writer.error(fault);
  }

  #start(event: Parameters<typeof headOf>[0] = {}): string {
    if (this.#head !== undefined) return '';
    this.#head = headOf(event, this.#options);
    const response = this.#response({ status: 'in_progress', output: [] });
    const created = this.#writer.event('response.created', { response });
    return created + this.#writer.event('response.in_progress', { response });
  }

  #response(state: ResponseState): JsonObject {
    this.#head ??= headOf({}, this.#options);
    return responseObject(this.#head, state, this.#options);
  }

  #inMessage(write: (message: OpenMessage) => string): string {
    if (this.#open instanceof OpenMessage) return write(this.#open);
    const { events, index, id } = this.#next('msg');
    const message = new OpenMessage(this.#writer, index, id);
    this.#open = message;
    return events + message.open() + write(message);
  }

  #inReasoning(block: number, write: (thought: OpenReasoning) => string): string {
    if (this.#open instanceof OpenReasoning && this.#open.block === block) return write(this.#open);
    const { events, index, id } = this.#next('rs');
    const thought = new OpenReasoning(this.#writer, index, id, block);
    this.#open = thought;
    return events + thought.open() + write(thought);
  }

  #seal(block: number, part: Parameters<typeof sealForCaller>[0]): string {
    return this.#inReasoning(block, (thought) => {
      thought.encryptedContent = sealForCaller(part);
      return '';
    });
  }

  /** An item that is there at once. */
  #whole(prefix: 'ig' | 'rs', make: (id: string) => JsonObject | undefined): string {
    if (make('') === undefined) return '';
    const { events, index, id } = this.#next(prefix);
    return events + this.#atOnce(index, make(id) as JsonObject);
  }

  #atOnce(index: number, item: JsonObject): string {
    this.#output[index] = item;
    return added(this.#writer, index, item) + done(this.#writer, index, item);
  }

  /** The signature of the part before: right behind it, whatever else is open. */
  #prove(signature: string | undefined): string {
    if (signature === undefined) return '';
    const events = this.#closeOpen();
    const { index, id } = this.#place('rs');
    const item = reasoningItem(id, '', sealPart(signature), 'completed');
    return events + this.#atOnce(index, item);
  }

  #callStart(event: Extract<ChatStreamEvent, { type: 'tool-call-start' }>): string {
    const { events, index, id } = this.#next('fc');
    const named = { callId: event.id, name: event.name };
    const asked = this.#asked.get(event.name);
    const call =
      asked === undefined || asked.kind === 'function'
        ? new OpenCall(this.#writer, index, id, named, asked)
        : new OpenToolCall(this.#writer, index, id, named, asked);
    call.signature = event.signature;
    this.#calls.set(event.call, call);
    return events + call.open();
  }

  /** The place of an item that begins, before which those end that are whole. */
  #next(prefix: Parameters<typeof itemId>[0]): { events: string; index: number; id: string } {
    let events = this.#start() + this.#closeOpen();
    for (const [number, call] of this.#calls)
      if (call.isWhole) {
        this.#calls.delete(number);
        events += this.#closeCall(call, 'completed');
      }
    return { events, ...this.#place(prefix) };
  }

  #place(prefix: Parameters<typeof itemId>[0]): { index: number; id: string } {
    const index = this.#items++;
    return { index, id: itemId(prefix, this.#head?.id ?? '', index) };
  }

  #closeOpen(): string {
    const events = this.#close(this.#open, 'completed');
    this.#open = undefined;
    return events;
  }

  #closeCall(call: OpenCall | OpenToolCall, status: 'completed' | 'incomplete'): string {
    return this.#close(call, status) + this.#prove(call.signature);
  }

  #close(item: OpenItem | undefined, status: 'completed' | 'incomplete'): string {
    if (item === undefined) return '';
    const closed = item.close(status);
    this.#output[item.index] = closed.item;
    return closed.events;
  }

  #end(): string {
    let events = this.#start();
    const cutStatus = endState(this.#finish, [], undefined).status;
    const rest: OpenItem[] = [...this.#calls.values()];
    if (this.#open !== undefined) rest.push(this.#open);
    const last = this.#items - 1;
    this.#open = undefined;
    for (const item of rest.sort((a, b) => a.index - b.index)) {
      const status = cutStatus === 'incomplete' && item.index === last ? 'incomplete' : 'completed';
      events +=
        item instanceof OpenCall || item instanceof OpenToolCall
          ? this.#closeCall(item, status)
          : this.#close(item, status);
    }
    const state = endState(this.#finish, this.#output, this.#usage);
    return events + this.#last(state);
  }

  #last(state: ResponseState): string {
    return this.#writer.event(`response.${state.status}`, { response: this.#response(state) });
  }

  /** Told twice: as clients raise it, and as the end of the response. */
  #fail({ kind, message, status }: Extract<ChatStreamEvent, { type: 'fault' }>): string {
    const told = `${this.#options.provider} error: ${message}`;
    const events = this.#start() + this.errorEvent({ type: kind, message: told, status });
    const output = this.#output.filter((item) => item !== undefined);
    return events + this.#last({ status: 'failed', output, error: { code: kind, message: told } });
  }
}
