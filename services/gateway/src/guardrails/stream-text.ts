import type { Endpoint } from '@sluice/contracts';
import { GrowingBytes, jsonBounds, readJsonText } from '@sluice/json';
import { arrayOf, type JsonObject, objectOf } from '@sluice/providers';

/**
 * Gathers what a stream says while its bytes go by, in the format of the
 * endpoint: the text of the first choice, and which tools it calls (by id and
 * name). Bounded: what is beyond the cap is not kept.
 */
export class StreamText {
  text = '';
  /** The format's terminal event went by. */
  sawEnd = false;
  private readonly endpoint: Endpoint;
  private readonly bytesMax: number;
  private readonly toolCalls: { id: string; name: string }[] = [];
  private model = '';
  private hasLost = false;
  private readonly line = new GrowingBytes();
  private lineBytes = 0;
  private isAfterBlankLine = true;

  constructor(endpoint: Endpoint, bytesMax: number) {
    this.endpoint = endpoint;
    this.bytesMax = bytesMax;
  }

  /** Bytes of the stream, cut anywhere. Never throws. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, start)) {
      this.hold(chunk.subarray(start, at));
      this.endLine();
      start = at + 1;
    }
    this.hold(chunk.subarray(start));
  }

  /** The stream is over; its last line may lack an end. Returns what must precede a further event. */
  end(): string {
    const missing = this.lineBytes > 0 ? '\n\n' : this.isAfterBlankLine ? '' : '\n';
    if (this.lineBytes > 0) this.endLine();
    return missing;
  }

  /** All of it was seen, to the terminal event, and kept. */
  get isWhole(): boolean {
    return this.sawEnd && !this.hasLost;
  }

  /** A body that says the same, for checks that read bodies. */
  response(): JsonObject {
    const { text, model } = this;
    switch (this.endpoint) {
      case 'messages': {
        const tools = this.toolCalls.map(({ id, name }) => ({ type: 'tool_use', id, name }));
        const content = text === '' ? tools : [{ type: 'text', text }, ...tools];
        return { type: 'message', role: 'assistant', model, content };
      }
      case 'createModelResponse': {
        const calls = this.toolCalls.map(({ id, name }) => ({
          type: 'function_call',
          call_id: id,
          name,
        }));
        const said = { type: 'message', content: [{ type: 'output_text', text }] };
        return { object: 'response', model, output: text === '' ? calls : [said, ...calls] };
      }
      case 'complete':
        return { object: 'text_completion', model, choices: [{ index: 0, text }] };
      default: {
        const tools = this.toolCalls.map(({ id, name }) => ({
          id,
          type: 'function',
          function: { name },
        }));
        const message: JsonObject = { role: 'assistant', content: text === '' ? null : text };
        if (tools.length > 0) message.tool_calls = tools;
        return { object: 'chat.completion', model, choices: [{ index: 0, message }] };
      }
    }
  }

  private hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.lineBytes += bytes.length;
    if (this.lineBytes > lineBytesMax) {
      this.line.clear();
      this.hasLost = true;
    } else {
      this.line.add(bytes);
    }
  }

  private endLine(): void {
    const bytes = this.line.take();
    this.isAfterBlankLine = this.lineBytes === 0 || (this.lineBytes === 1 && bytes[0] === CR);
    const isTooLong = this.lineBytes > lineBytesMax;
    this.lineBytes = 0;
    if (isTooLong || !startsWithData(bytes)) return;
    this.readData(bytes.toString('utf8', dataPrefix.length).trim());
  }

  /** Each event of these formats has its data in one line. */
  private readData(data: string): void {
    if (data === '[DONE]') {
      this.sawEnd = true;
      return;
    }
    let event: JsonObject | undefined;
    try {
      event = objectOf(readJsonText(data, jsonBounds.reply));
    } catch {
      // The stream's reader decides what to make of it; here it is no text.
    }
    if (event === undefined) return;
    if (this.endpoint === 'messages') this.readMessagesEvent(event);
    else if (this.endpoint === 'createModelResponse') this.readResponseEvent(event);
    else this.readChunk(event);
  }

  private readChunk(chunk: JsonObject): void {
    if (typeof chunk.model === 'string' && chunk.model !== '') this.model = chunk.model;
    for (const item of arrayOf(chunk.choices) ?? []) {
      const choice = objectOf(item);
      if (choice === undefined || (choice.index ?? 0) !== 0) continue;
      const delta = objectOf(choice.delta);
      this.addText(delta === undefined ? choice.text : delta.content);
      for (const call of arrayOf(delta?.tool_calls) ?? []) {
        const { id, function: named } = objectOf(call) ?? {};
        if (typeof id === 'string' && id !== '') this.addTool(id, objectOf(named)?.name);
      }
    }
  }

  private readMessagesEvent(event: JsonObject): void {
    switch (event.type) {
      case 'message_start': {
        const model = objectOf(event.message)?.model;
        if (typeof model === 'string') this.model = model;
        return;
      }
      case 'content_block_start': {
        const block = objectOf(event.content_block);
        if (block?.type === 'text') this.addText(block.text);
        else if (block?.type === 'tool_use') this.addTool(String(block.id), block.name);
        return;
      }
      case 'content_block_delta': {
        const delta = objectOf(event.delta);
        if (delta?.type === 'text_delta') this.addText(delta.text);
        return;
      }
      case 'message_stop':
        this.sawEnd = true;
    }
  }

  private readResponseEvent(event: JsonObject): void {
    const { item, response } = event;
    const model = objectOf(response)?.model;
    if (typeof model === 'string') this.model = model;
    switch (event.type) {
      case 'response.output_text.delta':
        this.addText(event.delta);
        return;
      case 'response.output_item.added': {
        const { type, call_id, name } = objectOf(item) ?? {};
        if (type === 'function_call') this.addTool(String(call_id), name);
        return;
      }
      case 'response.completed':
      case 'response.incomplete':
        this.sawEnd = true;
    }
  }

  private addText(text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    const room = this.bytesMax - this.text.length;
    if (text.length > room) this.hasLost = true;
    if (room > 0) this.text += text.slice(0, room);
  }

  private addTool(id: string, name: unknown): void {
    if (this.toolCalls.length >= toolCallsMax) this.hasLost = true;
    else this.toolCalls.push({ id, name: typeof name === 'string' ? name : '' });
  }
}

const LF = 0x0a;
const CR = 0x0d;
const lineBytesMax = 1024 * 1024;
const toolCallsMax = 256;
const dataPrefix = Buffer.from('data:');

function startsWithData(bytes: Buffer): boolean {
  return (
    bytes.length > dataPrefix.length && bytes.subarray(0, dataPrefix.length).equals(dataPrefix)
  );
}
