import type { JsonObject, JsonValue } from '@sluice/contracts';
import { mergeUsage } from '../codecs/anthropic-messages/wire.ts';
import type { SseEvent } from '../framing/sse.ts';
import { arrayOf, objectOf, parseObject, stringOf } from '../json/json-access.ts';

/** Events → message; undefined when that would not be faithful. */
export function assembleMessage(events: SseEvent[]): JsonObject | undefined {
  const assembly = new MessageAssembly();
  for (const { data } of events) {
    if (data.trim() === '') continue;
    const event = parseObject(data);
    if (event === undefined || !assembly.add(event)) return undefined;
  }
  return assembly.end();
}

/** One message as it grows. `add` answers false at what it cannot carry over. */
class MessageAssembly {
  #message: JsonObject | undefined;
  #usage: JsonObject = {};
  #blocks: BlockAssembly[] = [];
  #stopped = false;

  add(event: JsonObject): boolean {
    switch (event.type) {
      case 'ping':
        return true;
      case 'message_start':
        return this.#start(objectOf(event.message));
      case 'content_block_start':
        return this.#openBlock(event.index, objectOf(event.content_block));
      case 'content_block_delta':
        return this.#block(event.index)?.add(objectOf(event.delta) ?? {}) ?? false;
      case 'content_block_stop':
        return this.#block(event.index)?.stop() ?? false;
      case 'message_delta':
        return this.#delta(event);
      case 'message_stop':
        this.#stopped = true;
        return true;
      default:
        return false;
    }
  }

  end(): JsonObject | undefined {
    if (typeof this.#message?.stop_reason !== 'string' || !this.#stopped) return undefined;
    if (!this.#blocks.every((block) => block.isStopped)) return undefined;
    const content = this.#blocks.map((block) => block.value);
    return { ...this.#message, content, usage: this.#usage };
  }

  #start(message: JsonObject | undefined): boolean {
    if (message === undefined || this.#message !== undefined) return false;
    this.#message = message;
    this.#usage = objectOf(message.usage) ?? {};
    return arrayOf(message.content)?.length === 0;
  }

  #openBlock(index: JsonValue | undefined, block: JsonObject | undefined): boolean {
    if (block === undefined || index !== this.#blocks.length) return false;
    this.#blocks.push(new BlockAssembly(block));
    return true;
  }

  #block(index: JsonValue | undefined): BlockAssembly | undefined {
    return typeof index === 'number' ? this.#blocks[index] : undefined;
  }

  /** What is new since the start: why it stopped, the counts, and whatever else stands there. */
  #delta({ type: _, delta, usage, ...rest }: JsonObject): boolean {
    if (this.#message === undefined) return false;
    Object.assign(this.#message, delta, rest);
    this.#usage = mergeUsage(this.#usage, objectOf(usage) ?? {});
    return true;
  }
}

class BlockAssembly {
  isStopped = false;
  readonly value: JsonObject;
  #inputJson = '';

  constructor(start: JsonObject) {
    this.value = { ...start };
  }

  add(delta: JsonObject): boolean {
    if (this.isStopped) return false;
    switch (delta.type) {
      case 'text_delta':
        return this.#append('text', delta.text);
      case 'thinking_delta':
        return this.#append('thinking', delta.thinking);
      case 'signature_delta':
        this.value.signature = stringOf(delta.signature) ?? '';
        return true;
      case 'citations_delta':
        this.value.citations = [...(arrayOf(this.value.citations) ?? []), delta.citation ?? null];
        return true;
      case 'input_json_delta':
        this.#inputJson += stringOf(delta.partial_json) ?? '';
        return true;
      default:
        return false;
    }
  }

  /** False when the input is not an object: fine-grained streams may stop in the middle of it. */
  stop(): boolean {
    if (this.isStopped) return false;
    this.isStopped = true;
    if (this.#inputJson === '') return true;
    const input = parseObject(this.#inputJson);
    if (input !== undefined) this.value.input = input;
    return input !== undefined;
  }

  #append(field: 'text' | 'thinking', more: JsonValue | undefined): boolean {
    this.value[field] = (stringOf(this.value[field]) ?? '') + (stringOf(more) ?? '');
    return true;
  }
}
