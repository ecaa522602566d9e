import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isObject } from '@sluice/mcp';
import {
  type AskedCall,
  addedUsage,
  eventText,
  FreshIds,
  type LoopFormat,
  parsedArguments,
  type ToldFault,
  type Turn,
} from './loop-format.ts';
import { type CalledTool, type OfferedTool, toolFinder } from './offered-tools.ts';
import {
  type ApprovalSeal,
  type History,
  readHistory,
  sealApproval,
  shownId,
} from './responses-history.ts';
import {
  callItem,
  functionOf,
  isOfCaller,
  told,
  withoutCredential,
  withoutId,
} from './responses-items.ts';
import { type ToolAnswer, textOf } from './tool-answer.ts';
import type { Untold } from './untold-answers.ts';

export interface ResponsesParts {
  readonly json: JsonObject;
  /** Tools of the request that are none of ours. */
  readonly otherTools: readonly JsonValue[];
  readonly labels: ReadonlySet<string>;
  /** Of servers that are called no more, and whose calls stand in the input. */
  readonly earlier: readonly string[];
  readonly offered: readonly OfferedTool[];
  readonly seal: ApprovalSeal;
  /** Names of the caller's own tools. */
  readonly taken: ReadonlySet<string>;
  /** Of the response that this one goes on from: what its provider has not heard yet. */
  readonly untold: readonly JsonValue[];
}

const heads = new Set(['response.created', 'response.in_progress', 'response.queued']);
const ends = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** A call of ours in a stream, by its place in the round. */
interface StreamedCall {
  readonly called: CalledTool;
  readonly id: string;
}

/** `/v1/responses`: items, and events with numbers that go on over all rounds. */
export class ResponsesFormat implements LoopFormat {
  readonly endsByChoice = true;
  readonly keepAlive = ': \n\n';
  readonly #parts: ResponsesParts;
  readonly #history: History;
  readonly #find: (name: string) => CalledTool | undefined;
  /** What the model is told beside the request. */
  readonly #told: JsonValue[] = [];
  /** Of calls, by their ids, in the order of the calls; null = it is under way. */
  readonly #answers = new Map<string, JsonValue>();
  /** Of these what was told last. */
  #toldLast: JsonValue[] = [];
  readonly #output: JsonValue[] = [];
  readonly #ids = new FreshIds();
  /** Where items of this round begin, and where the calls of ours that wait for their answers stand. */
  #base = 0;
  readonly #places = new Map<string, number>();
  #sequence = 0;
  #rounds = 0;
  #head: JsonObject | undefined;
  #last: JsonObject = {};
  #usage: JsonObject | undefined;
  #items: JsonValue[] = [];
  /** Of the provider's numbers of items in this round: which item it is, in the order in which they were first told. */
  readonly #order = new Map<number, number>();
  #streamed = new Map<number, StreamedCall>();
  #ended: JsonObject | undefined;
  #hasFailed = false;
  /** Events to be told as soon as there is something to tell them after: they get their numbers then. */
  readonly #waiting: JsonObject[] = [];

  constructor(parts: ResponsesParts) {
    this.#parts = parts;
    const { json, labels, earlier, offered, seal, taken, untold } = parts;
    this.#find = toolFinder(offered, labels, taken);
    const { input } = json;
    const isKept = json.previous_response_id != null || json.conversation != null;
    const items = Array.isArray(input) ? input : [];
    const known = new Set([...labels, ...earlier]);
    this.#history = readHistory(items, { labels: known, offered, seal, isKept, untold });
    for (const label of labels) if (!this.#history.listed.has(label)) this.#listTools(label);
  }

  get approved(): readonly AskedCall[] {
    return this.#history.approved;
  }

  body(isLast: boolean): JsonObject {
    const { json, otherTools, offered } = this.#parts;
    this.#rounds += 1;
    const isFirst = this.#rounds === 1;
    // In the order of their calls, whichever was over first: as they stand in the caller's history.
    this.#tell(...this.#answers.values());
    this.#answers.clear();
    const tools = [...otherTools, ...offered.map(functionOf)];
    const choice = isLast ? 'none' : this.#choice(isFirst);
    const { tool_choice: _choice, tools: _tools, ...rest } = json;
    return {
      ...rest,
      ...(tools.length > 0 && { tools }),
      ...(choice !== undefined && tools.length > 0 && { tool_choice: choice }),
      input: this.#input(isFirst),
    };
  }

  #input(isFirst: boolean): JsonValue {
    const { input, conversation } = this.#parts.json;
    const { items } = this.#history;
    if (typeof input === 'string' && this.#told.length === 0 && items.length === 0) return input;
    // What was said before stands in the conversation, which its provider keeps.
    if (!isFirst && conversation != null) return this.#toldLast;
    const asked: JsonValue[] =
      typeof input === 'string' ? [...items, { role: 'user', content: input }] : items;
    return [...asked, ...this.#told];
  }

  get untold(): Untold | undefined {
    const { id, store } = this.#last;
    const items = [...this.#answers.values()].filter((item) => item !== null);
    return store === true && typeof id === 'string' && items.length > 0 ? { id, items } : undefined;
  }

  takeAnswer(document: JsonObject): Turn {
    this.#beginRound();
    this.#head ??= document;
    const output = Array.isArray(document.output) ? document.output : [];
    for (const [index, item] of output.entries()) {
      this.#items[index] = item;
      const called = this.#calledBy(item);
      if (called === undefined) this.#output[this.#base + index] = item;
      else this.#streamed.set(index, { called, id: this.#idOf(item) });
    }
    return this.#turn(document);
  }

  beginStream(): void {
    this.#beginRound();
  }

  #beginRound(): void {
    this.#base = this.#output.length;
    this.#items = [];
    this.#order.clear();
    this.#streamed = new Map();
    this.#places.clear();
    this.#ended = undefined;
  }

  takeEvent(name: string, data: JsonObject): string {
    const type = typeof data.type === 'string' ? data.type : name;
    if (heads.has(type)) {
      if (this.#rounds > 1) return '';
      const response = isObject(data.response) ? data.response : {};
      this.#head ??= response;
      return this.#event({ ...data, type, response: this.#shown(response) });
    }
    const before = this.#flush();
    if (ends.has(type)) {
      this.#ended = isObject(data.response) ? data.response : {};
      return before;
    }
    if (type === 'error') {
      this.#hasFailed = true;
      return before + this.#event({ ...data, type });
    }
    return before + this.#itemEvent(type, data);
  }

  #flush(): string {
    return this.#waiting
      .splice(0)
      .map((event) => this.#event(event))
      .join('');
  }

  #itemEvent(type: string, data: JsonObject): string {
    const { output_index: theirs } = data;
    if (typeof theirs !== 'number') return this.#event({ ...data, type });
    // A number of theirs is no place: a list that has a place for each could be of any length.
    const index = this.#order.get(theirs) ?? this.#order.size;
    this.#order.set(theirs, index);
    const place = this.#base + index;
    const item = isObject(data.item) ? data.item : undefined;
    if (type === 'response.output_item.added' && item !== undefined) {
      const called = this.#calledBy(item);
      if (called !== undefined) return this.#callBegins(called, item, index);
    }
    if (type === 'response.output_item.done' && item !== undefined) this.#items[index] = item;
    const streamed = this.#streamed.get(index);
    if (streamed === undefined) {
      if (type === 'response.output_item.done' && item !== undefined) this.#output[place] = item;
      return this.#event({ ...data, type, output_index: place });
    }
    if (streamed.called.needsApproval || !type.startsWith('response.function_call_arguments.'))
      return '';
    const { sequence_number, name, ...rest } = data;
    const ours = type.replace('function_call_arguments', 'mcp_call_arguments');
    return this.#event({ ...rest, type: ours, item_id: streamed.id, output_index: place });
  }

  #callBegins(called: CalledTool, item: JsonObject, index: number): string {
    const id = this.#idOf(item);
    this.#streamed.set(index, { called, id });
    const place = this.#base + index;
    this.#output[place] = null;
    if (called.needsApproval) return '';
    const shown = callItem({ ...called, id }, 'in_progress');
    return (
      this.#event({ type: 'response.output_item.added', output_index: place, item: shown }) +
      this.#event({ type: 'response.mcp_call.in_progress', item_id: id, output_index: place })
    );
  }

  endStream(): Turn | undefined {
    if (this.#hasFailed || this.#ended === undefined) return undefined;
    // Some say what they said only at the end.
    const { output } = this.#ended;
    if (this.#items.length === 0 && Array.isArray(output)) this.#items = [...output];
    return this.#turn(this.#ended);
  }

  #turn(response: JsonObject): Turn {
    this.#last = response;
    this.#usage = addedUsage(this.#usage, isObject(response.usage) ? response.usage : undefined);
    const isWhole = response.status === undefined || response.status === 'completed';
    const calls: AskedCall[] = [];
    let waits = false;
    for (const [index, item] of this.#items.entries()) {
      const streamed = this.#streamed.get(index);
      if (!isObject(item)) continue;
      if (streamed === undefined) {
        if (isOfCaller(item)) waits = true;
        continue;
      }
      const { called, id } = streamed;
      const text = typeof item.arguments === 'string' ? item.arguments : '';
      const call: AskedCall = {
        id,
        callId: String(item.call_id ?? ''),
        ...called,
        argumentsText: text,
        arguments: parsedArguments(text),
      };
      this.#places.set(id, this.#base + index);
      if (!isWhole) this.#place(call, callItem(call, 'incomplete'));
      else if (called.needsApproval) {
        waits = true;
        this.#askApproval(call);
      } else {
        calls.push(call);
        this.#answers.set(id, null);
      }
    }
    this.#toldLast = [];
    const tellable = this.#items.filter((item) => this.#isTellable(item));
    // By its id an item is asked for the thought that it came from.
    const isWithout = tellable.length < this.#items.length;
    this.#tell(...(isWithout ? tellable.map(withoutId) : tellable));
    if (this.#parts.json.conversation != null) this.#toldLast = [];
    return { calls, isLast: waits || !isWhole || calls.length === 0 };
  }

  #tell(...items: JsonValue[]): void {
    this.#told.push(...items);
    this.#toldLast.push(...items);
  }

  /** A thought that nobody keeps cannot be referred to. */
  #isTellable(item: JsonValue): boolean {
    if (!isObject(item)) return false;
    const isKept = this.#parts.json.store !== false;
    return item.type !== 'reasoning' || isKept || typeof item.encrypted_content === 'string';
  }

  #askApproval(call: AskedCall): void {
    const { callId, functionName, label, toolName, argumentsText } = call;
    const sealed = { callId, functionName, label, toolName, arguments: argumentsText };
    const place = this.#places.get(call.id) ?? 0;
    let item: JsonObject;
    try {
      item = {
        id: sealApproval(sealed, this.#parts.seal),
        type: 'mcp_approval_request',
        arguments: argumentsText,
        name: toolName,
        server_label: label,
      };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const message = 'The arguments are too long to be asked about.';
      const fault = { type: 'mcp_protocol_error', code: -32000, message };
      item = { ...callItem(call, 'failed'), error: fault };
    }
    this.#output[place] = item;
    const at = { output_index: place, item };
    this.#waiting.push(
      { type: 'response.output_item.added', ...at },
      { type: 'response.output_item.done', ...at },
    );
  }

  addAnswer(call: AskedCall, answer: ToolAnswer): string {
    this.#answers.set(call.id, {
      type: 'function_call_output',
      call_id: call.callId,
      output: told(answer),
    });
    const status = answer.error === undefined ? 'completed' : 'failed';
    const item = {
      ...callItem(call, status),
      output: answer.error === undefined ? textOf(answer) : null,
      error: answer.error ?? null,
    };
    if (call.approvalId === undefined) {
      this.#place(call, item);
      return this.#flush();
    }
    // Nothing of the stream is told yet.
    this.#addApproved(call, item);
    return '';
  }

  #place(call: AskedCall, item: JsonObject): void {
    const place = this.#places.get(call.id) ?? this.#output.length;
    this.#output[place] = item;
    const end = item.status === 'completed' ? 'completed' : 'failed';
    this.#waiting.push(
      { type: `response.mcp_call.${end}`, item_id: call.id, output_index: place },
      { type: 'response.output_item.done', output_index: place, item },
    );
  }

  /** It was made before the model was asked: its item stands before all that the model says. */
  #addApproved(call: AskedCall, item: JsonObject): void {
    const place = this.#output.length;
    this.#places.set(call.id, place);
    this.#output.push(item);
    const at = { item_id: call.id, output_index: place };
    const { argumentsText } = call;
    const begun = callItem({ ...call, argumentsText: '' }, 'in_progress');
    this.#waiting.push(
      { type: 'response.output_item.added', output_index: place, item: begun },
      { type: 'response.mcp_call.in_progress', ...at },
      { type: 'response.mcp_call_arguments.done', ...at, arguments: argumentsText },
      { type: `response.mcp_call.${item.status === 'completed' ? 'completed' : 'failed'}`, ...at },
      { type: 'response.output_item.done', output_index: place, item },
    );
  }

  #listTools(label: string): void {
    const { offered } = this.#parts;
    const id = this.#ids.of(`mcpl_${label.replace(/[^\w-]+/g, '_')}`);
    const item = {
      id,
      type: 'mcp_list_tools',
      server_label: label,
      tools: offered
        .filter((tool) => tool.label === label)
        .map(({ listed }) => ({
          name: listed.name,
          description: listed.description ?? null,
          input_schema: listed.inputSchema,
          annotations: listed.annotations ?? null,
        })),
      error: null,
    };
    const place = this.#output.length;
    this.#output.push(item);
    const at = { item_id: id, output_index: place };
    this.#waiting.push(
      { type: 'response.output_item.added', output_index: place, item: { ...item, tools: [] } },
      { type: 'response.mcp_list_tools.in_progress', ...at },
      { type: 'response.mcp_list_tools.completed', ...at },
      { type: 'response.output_item.done', output_index: place, item },
    );
  }

  document(isCut: boolean): JsonObject {
    const whole = this.#shown(this.#last, this.#output);
    return isCut
      ? { ...whole, status: 'incomplete', incomplete_details: { reason: 'max_tool_calls' } }
      : whole;
  }

  endEvents(isCut: boolean): string {
    const before = this.#flush();
    const response = this.document(isCut);
    const { status } = response;
    const type = status === 'incomplete' || status === 'failed' ? status : 'completed';
    return before + this.#event({ type: `response.${type}`, response });
  }

  errorEvent({ code, message }: ToldFault): string {
    return this.#flush() + this.#event({ type: 'error', code, message, param: null });
  }

  #shown(response: JsonObject, output?: readonly JsonValue[]): JsonObject {
    const { json } = this.#parts;
    const tools = Array.isArray(json.tools) ? json.tools.map(withoutCredential) : [];
    const isOver = output !== undefined;
    // What is kept at the provider is kept under the id of its last answer: that is the one to go on from.
    const isKept = isOver && response.store === true;
    return {
      ...response,
      id: isKept ? (response.id ?? '') : (this.#head?.id ?? response.id ?? ''),
      created_at: this.#head?.created_at ?? response.created_at ?? null,
      tools,
      tool_choice: json.tool_choice ?? 'auto',
      output: [...(output ?? [])],
      ...(isOver && this.#usage !== undefined ? { usage: this.#usage } : {}),
    };
  }

  #event(data: JsonObject): string {
    const { sequence_number: _theirs, ...rest } = data;
    const text = eventText({ ...rest, sequence_number: this.#sequence });
    this.#sequence += 1;
    return text;
  }

  #calledBy(item: JsonValue): CalledTool | undefined {
    if (!isObject(item) || item.type !== 'function_call') return undefined;
    return typeof item.name === 'string' ? this.#find(item.name) : undefined;
  }

  #idOf(item: JsonValue): string {
    const callId = isObject(item) && typeof item.call_id === 'string' ? item.call_id : 'call';
    return this.#ids.of(shownId(callId));
  }

  /** A choice that must be met is met by the first turn. */
  #choice(isFirst: boolean): JsonValue | undefined {
    const { tool_choice: choice } = this.#parts.json;
    if (choice === undefined) return undefined;
    if (
      !isFirst &&
      (choice === 'required' || (isObject(choice) && choice.type !== 'allowed_tools'))
    )
      return 'auto';
    if (!isObject(choice)) return choice;
    if (choice.type === 'mcp') {
      const tools = this.#chosen(choice);
      if (tools.length === 1) return tools[0];
      return { type: 'allowed_tools', mode: 'required', tools };
    }
    if (choice.type !== 'allowed_tools' || !Array.isArray(choice.tools)) return choice;
    const tools = choice.tools.flatMap((tool) =>
      isObject(tool) && tool.type === 'mcp' ? this.#chosen(tool) : [tool],
    );
    const mode = isFirst || choice.mode !== 'required' ? choice.mode : 'auto';
    return { ...choice, ...(mode === undefined ? {} : { mode }), tools } as JsonObject;
  }

  #chosen({ server_label: label, name }: JsonObject): JsonObject[] {
    return this.#parts.offered
      .filter((tool) => tool.label === label && (name == null || tool.listed.name === name))
      .map(({ functionName }) => ({ type: 'function', name: functionName }));
  }
}
