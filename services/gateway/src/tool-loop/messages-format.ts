import type { JsonObject, JsonValue } from '@sluice/contracts';
import { anthropicTypeOf } from '@sluice/errors';
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
import { readMessages, shownId } from './messages-history.ts';
import { type CalledTool, type OfferedTool, toolFinder } from './offered-tools.ts';
import type { AnswerPart, ToolAnswer } from './tool-answer.ts';

export interface MessagesParts {
  readonly json: JsonObject;
  /** Tools of the request that are none of ours. */
  readonly otherTools: readonly JsonValue[];
  /** Servers of the request that are none of ours. */
  readonly otherServers: readonly JsonValue[];
  readonly labels: ReadonlySet<string>;
  readonly offered: readonly OfferedTool[];
  /** Of the toolsets, by server. */
  readonly cacheMarks: ReadonlyMap<string, JsonValue>;
  /** Names of the caller's own tools. */
  readonly taken: ReadonlySet<string>;
}

/** A call of ours, as its caller is told it. */
interface ShownCall {
  readonly called: CalledTool;
  readonly id: string;
}

/** A block of a stream as it grows. */
interface OpenBlock {
  readonly block: JsonObject;
  readonly place: number;
  /** Where it is a call of ours. */
  readonly shown: ShownCall | undefined;
  json: string;
}

/** `/v1/messages`: blocks, whose places go on over all rounds. */
export class MessagesFormat implements LoopFormat {
  readonly approved: readonly AskedCall[] = [];
  readonly endsByChoice = false;
  readonly keepAlive = 'event: ping\ndata: {"type":"ping"}\n\n';
  readonly #parts: MessagesParts;
  readonly #find: (name: string) => CalledTool | undefined;
  readonly #messages: JsonValue[];
  /** Told to the caller so far. */
  readonly #content: JsonValue[] = [];
  readonly #ids = new FreshIds();
  #head: JsonObject | undefined;
  #last: JsonObject = {};
  #usage: JsonObject | undefined;
  #rounds = 0;
  #said: JsonValue[] = [];
  /** Of calls, by their ids, in the order of the calls; null = it is under way. */
  readonly #results = new Map<string, JsonValue>();
  #open = new Map<number, OpenBlock>();
  #calls: AskedCall[] = [];
  #roundUsage: JsonObject = {};
  #hasEnded = false;
  #hasFailed = false;

  constructor(parts: MessagesParts) {
    this.#parts = parts;
    const { json, labels, offered, taken } = parts;
    this.#find = toolFinder(offered, labels, taken);
    this.#messages = readMessages(Array.isArray(json.messages) ? json.messages : [], labels);
  }

  body(isLast: boolean): JsonObject {
    const { json, otherTools, otherServers } = this.#parts;
    this.#rounds += 1;
    this.#tellResults();
    const { mcp_servers: _servers, tools: _tools, tool_choice: _choice, ...rest } = json;
    const tools = [...otherTools, ...this.#functions()];
    const choice = this.#choice(isLast);
    return {
      ...rest,
      messages: [...this.#messages],
      ...(otherServers.length > 0 && { mcp_servers: [...otherServers] }),
      ...(tools.length > 0 && { tools }),
      ...(choice !== undefined && tools.length > 0 && { tool_choice: choice }),
    };
  }

  #tellResults(): void {
    if (this.#results.size === 0) return;
    this.#messages.push({ role: 'user', content: [...this.#results.values()] });
    this.#results.clear();
  }

  #functions(): JsonObject[] {
    const { offered, cacheMarks } = this.#parts;
    return offered.map(({ functionName, listed, label }, index) => {
      const mark = cacheMarks.get(label);
      const isLastOfSet = offered[index + 1]?.label !== label;
      return {
        name: functionName,
        ...(listed.description === undefined ? {} : { description: listed.description }),
        input_schema: { type: 'object', ...listed.inputSchema },
        ...(mark != null && isLastOfSet && { cache_control: mark }),
      };
    });
  }

  /** A choice that must be met is met by the first turn. */
  #choice(isLast: boolean): JsonValue | undefined {
    const { tool_choice: choice } = this.#parts.json;
    if (isLast) return { type: 'none' };
    if (!isObject(choice)) return choice;
    const { disable_parallel_tool_use: one } = choice;
    if (this.#rounds > 1 && (choice.type === 'any' || choice.type === 'tool'))
      return { type: 'auto', ...(one === undefined ? {} : { disable_parallel_tool_use: one }) };
    if (choice.type !== 'tool' || this.#find(String(choice.name))?.tool !== undefined)
      return choice;
    const { otherTools, offered } = this.#parts;
    if (otherTools.some((tool) => isObject(tool) && tool.name === choice.name)) return choice;
    const meant = offered.find(({ listed }) => listed.name === choice.name);
    return meant === undefined ? choice : { ...choice, name: meant.functionName };
  }

  takeAnswer(document: JsonObject): Turn {
    this.#beginRound();
    this.#head ??= document;
    this.#last = document;
    const content = Array.isArray(document.content) ? document.content : [];
    for (const block of content) this.#take(block);
    this.#roundUsage = isObject(document.usage) ? document.usage : {};
    return this.#turn(document.stop_reason);
  }

  #take(block: JsonValue): void {
    const called = this.#calledBy(block);
    if (called === undefined) this.#content.push(block);
    else {
      const shown = { called, id: this.#idOf(block) };
      const { input } = block as JsonObject;
      this.#addCall(block as JsonObject, shown, JSON.stringify(input ?? {}));
      this.#content.push(useBlock(shown, input ?? {}));
    }
    this.#said.push(block);
  }

  beginStream(): void {
    this.#beginRound();
  }

  #beginRound(): void {
    this.#said = [];
    this.#calls = [];
    this.#open = new Map();
    this.#roundUsage = {};
    this.#hasEnded = false;
  }

  takeEvent(name: string, data: JsonObject): string {
    const type = typeof data.type === 'string' ? data.type : name;
    switch (type) {
      case 'message_start':
        return this.#start(data);
      case 'content_block_start':
        return this.#blockBegins(data);
      case 'content_block_delta':
        return this.#blockGrows(data);
      case 'content_block_stop':
        return this.#blockEnds(data);
      case 'message_delta':
        this.#last = { ...this.#last, ...data, delta: data.delta ?? {} };
        if (isObject(data.usage)) this.#roundUsage = { ...this.#roundUsage, ...told(data.usage) };
        return '';
      case 'message_stop':
        this.#hasEnded = true;
        return '';
      case 'error':
        this.#hasFailed = true;
        return eventText({ ...data, type });
      default:
        return eventText({ ...data, type });
    }
  }

  #start(data: JsonObject): string {
    const message = isObject(data.message) ? data.message : {};
    if (isObject(message.usage)) this.#roundUsage = message.usage;
    if (this.#head !== undefined) return '';
    this.#head = message;
    return eventText(data);
  }

  #blockBegins(data: JsonObject): string {
    const block = isObject(data.content_block) ? data.content_block : {};
    const called = this.#calledBy(block);
    const shown = called === undefined ? undefined : { called, id: this.#idOf(block) };
    const place = this.#content.length;
    this.#content.push(null);
    this.#open.set(Number(data.index), { block: { ...block }, place, shown, json: '' });
    const told = shown === undefined ? block : useBlock(shown, {});
    return eventText({ ...data, index: place, content_block: told });
  }

  #blockGrows(data: JsonObject): string {
    const open = this.#open.get(Number(data.index));
    if (open === undefined) return '';
    if (isObject(data.delta)) grow(open, data.delta);
    return eventText({ ...data, index: open.place });
  }

  #blockEnds(data: JsonObject): string {
    const open = this.#open.get(Number(data.index));
    if (open === undefined) return '';
    const { block, shown, json, place } = open;
    if (json !== '' || block.type === 'tool_use')
      block.input = parsedArguments(json) ?? (json === '' ? (block.input ?? {}) : {});
    this.#said.push(block);
    if (shown === undefined) this.#content[place] = block;
    else {
      this.#content[place] = useBlock(shown, block.input ?? {});
      this.#addCall(block, shown, json);
    }
    return eventText({ ...data, index: place });
  }

  #addCall(block: JsonObject, { called, id }: ShownCall, text: string): void {
    this.#calls.push({
      id,
      callId: String(block.id),
      ...called,
      argumentsText: text,
      arguments: parsedArguments(text),
    });
  }

  endStream(): Turn | undefined {
    if (this.#hasFailed || !this.#hasEnded) return undefined;
    const { delta } = this.#last;
    return this.#turn(isObject(delta) ? delta.stop_reason : undefined);
  }

  #turn(stopReason: JsonValue | undefined): Turn {
    this.#usage = addedUsage(this.#usage, this.#roundUsage);
    if (this.#said.length > 0) this.#messages.push({ role: 'assistant', content: this.#said });
    const isWhole = stopReason === 'tool_use';
    const waits = this.#said.some(
      (block) =>
        isObject(block) && block.type === 'tool_use' && this.#calledBy(block) === undefined,
    );
    const calls = isWhole ? this.#calls : [];
    for (const { id } of calls) this.#results.set(id, null);
    return { calls, isLast: waits || calls.length === 0 };
  }

  addAnswer(call: AskedCall, answer: ToolAnswer): string {
    this.#results.set(call.id, {
      type: 'tool_result',
      tool_use_id: call.callId,
      // Empty texts are refused.
      content: answer.parts
        .filter((part) => part.kind !== 'text' || part.text !== '')
        .map(toldPart),
      ...(answer.isError && { is_error: true }),
    });
    const block = {
      type: 'mcp_tool_result',
      tool_use_id: call.id,
      is_error: answer.isError,
      content: answer.parts.map(shownPart),
    };
    const index = this.#content.length;
    this.#content.push(block);
    return (
      eventText({ type: 'content_block_start', index, content_block: block }) +
      eventText({ type: 'content_block_stop', index })
    );
  }

  document(isCut: boolean): JsonObject {
    return {
      ...this.#last,
      id: this.#head?.id ?? this.#last.id ?? '',
      content: [...this.#content],
      ...(isCut && { stop_reason: 'pause_turn' }),
      usage: this.#usage ?? {},
    };
  }

  endEvents(isCut: boolean): string {
    const { delta, ...rest } = this.#last;
    const end = { ...(isObject(delta) ? delta : {}), ...(isCut && { stop_reason: 'pause_turn' }) };
    const usage = this.#usage ?? {};
    return (
      eventText({ ...rest, type: 'message_delta', delta: end, usage }) +
      eventText({ type: 'message_stop' })
    );
  }

  errorEvent(fault: ToldFault): string {
    const error = { type: anthropicTypeOf(fault), message: fault.message };
    return eventText({ type: 'error', error });
  }

  #calledBy(block: JsonValue): CalledTool | undefined {
    if (!isObject(block) || block.type !== 'tool_use') return undefined;
    return typeof block.name === 'string' ? this.#find(block.name) : undefined;
  }

  #idOf(block: JsonValue): string {
    const id = isObject(block) && typeof block.id === 'string' ? block.id : 'call';
    return this.#ids.of(shownId(id));
  }
}

function useBlock({ called, id }: ShownCall, input: JsonValue): JsonObject {
  const { toolName: name, label: server_name } = called;
  return { type: 'mcp_tool_use', id, name, server_name, input };
}

/** https://platform.claude.com/docs/en/build-with-claude/streaming#content-block-delta-types */
function grow(open: OpenBlock, delta: JsonObject): void {
  const { block } = open;
  const added = (name: string) => {
    block[name] = `${String(block[name] ?? '')}${String(delta[name] ?? '')}`;
  };
  switch (delta.type) {
    case 'text_delta':
      added('text');
      return;
    case 'thinking_delta':
      added('thinking');
      return;
    case 'signature_delta':
      block.signature = delta.signature ?? '';
      return;
    case 'input_json_delta':
      open.json += String(delta.partial_json ?? '');
      return;
    case 'citations_delta':
      block.citations = [
        ...(Array.isArray(block.citations) ? block.citations : []),
        delta.citation ?? null,
      ];
      return;
    case 'compaction_delta':
      block.content = delta.content ?? null;
      return;
    default:
      return;
  }
}

/** What is null was said before. */
function told(usage: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(usage).filter(([, value]) => value !== null),
  ) as JsonObject;
}

function toldPart(part: AnswerPart): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  return {
    type: 'image',
    source: { type: 'base64', media_type: part.mediaType, data: part.data },
  };
}

/** Of results callers are told texts alone. */
function shownPart(part: AnswerPart): JsonObject {
  return {
    type: 'text',
    text: part.kind === 'text' ? part.text : `[${part.mediaType}]`,
    citations: null,
  };
}
