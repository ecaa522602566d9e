/**
 * Items of an answer while they are told: each writes its own events, and is
 * told whole when it closes. Messages, which have parts, are in `open-message.ts`.
 */
import type { JsonObject } from '@sluice/contracts';
import { parseObject } from '../../json/json-access.ts';
import type { AskedTool } from './asked-tools.ts';
import type { EventWriter } from './event-writer.ts';
import { type ItemStatus, reasoningItem, summaryText } from './output-items.ts';
import { callItem } from './tool-items.ts';

export interface OpenItem {
  /** Its place in the output. */
  readonly index: number;
  close(status: ItemStatus): { events: string; item: JsonObject };
}

/** A summary of a thought as far as it was told. */
export interface ToldSummary {
  text: string;
  isTextDone: boolean;
  isDone: boolean;
}

export class OpenReasoning implements OpenItem {
  readonly index: number;
  readonly block: number;
  /** What proves the thought to the provider that had it. */
  encryptedContent: string | undefined;
  #writer: EventWriter;
  #id: string;
  #text = '';
  #deltaHead: string | undefined;
  /** What another told of it. */
  #adopted: readonly ToldSummary[] = [];

  constructor(writer: EventWriter, index: number, id: string, block: number) {
    this.#writer = writer;
    this.index = index;
    this.#id = id;
    this.block = block;
  }

  open(): string {
    return added(this.#writer, this.index, reasoningItem(this.#id, '', undefined, 'in_progress'));
  }

  /** Takes over what another told of it: nothing is added to it any more. */
  adopt(summaries: readonly ToldSummary[]): void {
    this.#adopted = summaries;
  }

  think(text: string): string {
    let events = '';
    if (this.#deltaHead === undefined) {
      const place = this.#place();
      this.#deltaHead = this.#writer.deltaHead('response.reasoning_summary_text.delta', place);
      const part = summaryText('');
      events = this.#writer.event('response.reasoning_summary_part.added', { ...place, part });
    }
    this.#text += text;
    return events + this.#writer.delta(this.#deltaHead, text);
  }

  close(status: ItemStatus): { events: string; item: JsonObject } {
    const text = this.#text;
    const own = { text, isTextDone: false, isDone: false };
    const told = this.#deltaHead === undefined ? this.#adopted : [own];
    const events = told.map((summary, at) => this.#closeSummary(summary, at)).join('');
    const item = reasoningItem(this.#id, text, this.encryptedContent, status);
    if (this.#adopted.length > 0) item.summary = told.map((summary) => summaryText(summary.text));
    return { events: events + done(this.#writer, this.index, item), item };
  }

  #closeSummary({ text, isTextDone, isDone }: ToldSummary, at: number): string {
    if (isDone) return '';
    const place = this.#place(at);
    let events = '';
    if (!isTextDone)
      events += this.#writer.event('response.reasoning_summary_text.done', { ...place, text });
    const part = summaryText(text);
    return events + this.#writer.event('response.reasoning_summary_part.done', { ...place, part });
  }

  #place(summary_index = 0): JsonObject {
    return { item_id: this.#id, output_index: this.index, summary_index };
  }
}

export class OpenCall implements OpenItem {
  readonly index: number;
  /** What proves it to the provider: told behind it. */
  signature: string | undefined;
  #writer: EventWriter;
  #id: string;
  #callId: string;
  #name: string;
  #asked: AskedTool | undefined;
  #arguments = '';
  /** All of the arguments were told, if not that the call is whole. */
  #isTold = false;
  #deltaHead: string;

  constructor(
    writer: EventWriter,
    index: number,
    id: string,
    { callId, name }: { callId: string; name: string },
    asked: AskedTool | undefined,
  ) {
    this.#writer = writer;
    this.index = index;
    this.#id = id;
    this.#callId = callId;
    this.#name = name;
    this.#asked = asked;
    this.#deltaHead = writer.deltaHead('response.function_call_arguments.delta', this.#place());
  }

  open(): string {
    return added(this.#writer, this.index, this.#item('', 'in_progress'));
  }

  /** Takes over what another told of it. */
  adopt(told: string, isTold: boolean): void {
    this.#arguments = told;
    this.#isTold = isTold;
  }

  /** Nothing that follows can belong to it. */
  get isWhole(): boolean {
    return isWhole(this.#arguments, this.signature);
  }

  add(piece: string): string {
    this.#arguments += piece;
    return this.#writer.delta(this.#deltaHead, piece);
  }

  close(status: ItemStatus): { events: string; item: JsonObject } {
    // A call without arguments has the empty object for them.
    const whole = this.#arguments || '{}';
    const item = this.#item(whole, status);
    const events = this.#isTold
      ? ''
      : this.#writer.event('response.function_call_arguments.done', {
          ...this.#place(),
          name: this.#asked?.name ?? this.#name,
          arguments: whole,
        });
    return { events: events + done(this.#writer, this.index, item), item };
  }

  #place(): JsonObject {
    return { item_id: this.#id, output_index: this.index };
  }

  #item(whole: string, status: ItemStatus): JsonObject {
    const call = { id: this.#id, callId: this.#callId, name: this.#name, arguments: whole };
    return callItem(call, this.#asked, status);
  }
}

/**
 * The call of a tool that is no function. What its item says is known when the
 * function's arguments are whole, so it is told at once when it closes.
 */
export class OpenToolCall implements OpenItem {
  readonly index: number;
  /** As of a function's call. */
  signature: string | undefined;
  #writer: EventWriter;
  #call: { id: string; callId: string; name: string };
  #asked: AskedTool;
  #arguments = '';

  constructor(
    writer: EventWriter,
    index: number,
    id: string,
    { callId, name }: { callId: string; name: string },
    asked: AskedTool,
  ) {
    this.#writer = writer;
    this.index = index;
    this.#call = { id, callId, name };
    this.#asked = asked;
  }

  open(): string {
    return added(this.#writer, this.index, this.#item('', 'in_progress'));
  }

  get isWhole(): boolean {
    return isWhole(this.#arguments, this.signature);
  }

  add(piece: string): string {
    this.#arguments += piece;
    return '';
  }

  close(status: ItemStatus): { events: string; item: JsonObject } {
    const item = this.#item(this.#arguments || '{}', status);
    let events = '';
    if (item.type === 'custom_tool_call') {
      const place = { item_id: this.#call.id, output_index: this.index };
      const { input } = item;
      events = this.#writer.event('response.custom_tool_call_input.delta', {
        ...place,
        delta: input,
      });
      events += this.#writer.event('response.custom_tool_call_input.done', { ...place, input });
    }
    return { events: events + done(this.#writer, this.index, item), item };
  }

  #item(whole: string, status: ItemStatus): JsonObject {
    return callItem({ ...this.#call, arguments: whole }, this.#asked, status);
  }
}

/** Calls that are signed, which are Google's, come in one piece. */
function isWhole(told: string, signature: string | undefined): boolean {
  return signature !== undefined || parseObject(told) !== undefined;
}

export function added(writer: EventWriter, output_index: number, item: JsonObject): string {
  return writer.event('response.output_item.added', { output_index, item });
}

export function done(writer: EventWriter, output_index: number, item: JsonObject): string {
  return writer.event('response.output_item.done', { output_index, item });
}
