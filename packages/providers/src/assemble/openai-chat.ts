import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { SseEvent } from '../framing/sse.ts';
import { arrayOf, numberOf, objectOf } from '../json/json-access.ts';
import { GatheredFields } from './fields.ts';
import { assembleChunks, type ChunkOptions } from './openai-chunks.ts';

/** Chunks → chat completion; undefined when that would not be faithful. */
export function assembleChat(events: SseEvent[], options: ChunkOptions): JsonObject | undefined {
  return assembleChunks(events, 'chat.completion', assembleChoice, options);
}

function assembleChoice(chunks: JsonObject[], index: number): JsonObject | undefined {
  const fields = new GatheredFields();
  const message = new MessageAssembly();
  for (const chunk of chunks)
    for (const key in chunk) {
      const value = chunk[key];
      if (key === 'index' || value === undefined) continue;
      // Told whole beside the deltas: which of the two counts is not known.
      if (key === 'message') return undefined;
      const taken =
        key === 'delta'
          ? message.add(objectOf(value) ?? {})
          : key === 'logprobs'
            ? fields.extendLists(key, value)
            : fields.same(key, value);
      if (!taken) return undefined;
    }
  const whole = message.end();
  if (whole === undefined) return undefined;
  const { logprobs = null, ...rest } = fields.values;
  return { index, message: whole, logprobs, ...rest };
}

/** The deltas of one choice as one message. `add` answers false at what it cannot carry over. */
class MessageAssembly {
  #fields = new GatheredFields();
  #calls = new Map<number, CallAssembly>();
  #legacyCall: CallAssembly | undefined;
  #blocks = new Map<number, BlockAssembly>();

  add(delta: JsonObject): boolean {
    for (const key in delta) {
      const value = delta[key];
      if (value !== undefined && !this.#take(key, value)) return false;
    }
    return true;
  }

  end(): JsonObject | undefined {
    const { role, content = null, ...rest } = this.#fields.values;
    const message: JsonObject = { role: role ?? 'assistant', content, ...rest };
    if (this.#calls.size > 0) message.tool_calls = inOrder(this.#calls);
    if (this.#legacyCall !== undefined) message.function_call = this.#legacyCall.end();
    if (this.#blocks.size > 0) message.content_blocks = inOrder(this.#blocks);
    return message;
  }

  #take(key: string, value: JsonValue): boolean {
    switch (key) {
      case 'role':
        return this.#fields.first(key, value);
      case 'content':
      case 'refusal':
      case 'reasoning_content':
      case 'reasoning':
        return this.#fields.append(key, value);
      case 'annotations':
        return this.#fields.extend(key, value);
      case 'tool_calls':
        return (
          value === null || (arrayOf(value)?.every((call, at) => this.#call(call, at)) ?? false)
        );
      case 'function_call':
        if (value === null) return true;
        this.#legacyCall ??= new CallAssembly();
        return this.#legacyCall.add(objectOf(value) ?? {});
      case 'content_blocks':
        return arrayOf(value)?.every((block) => this.#block(objectOf(block) ?? {})) ?? false;
      default:
        return this.#fields.once(key, value);
    }
  }

  #call(value: JsonValue, position: number): boolean {
    const { index: given, ...call } = objectOf(value) ?? {};
    const index = numberOf(given) ?? position;
    const held = this.#calls.get(index) ?? new CallAssembly();
    this.#calls.set(index, held);
    return held.add(call);
  }

  #block({ index, delta }: JsonObject): boolean {
    const at = numberOf(index) ?? 0;
    const held = this.#blocks.get(at) ?? new BlockAssembly();
    this.#blocks.set(at, held);
    return held.add(objectOf(delta) ?? {});
  }
}

function inOrder(parts: Map<number, { end(): JsonObject }>): JsonObject[] {
  return [...parts].sort(([a], [b]) => a - b).map(([, part]) => part.end());
}

/** A tool call or a legacy function call: names are said once or repeated, what is passed comes in fragments. */
class CallAssembly {
  #fields = new GatheredFields();
  #nested = new Map<string, CallAssembly>();

  add(part: JsonObject): boolean {
    for (const key in part) {
      const value = part[key];
      if (value === undefined || !this.#take(key, value)) return false;
    }
    return true;
  }

  end(): JsonObject {
    const call: JsonObject = { ...this.#fields.values };
    for (const [key, nested] of this.#nested) call[key] = nested.end();
    return call;
  }

  #take(key: string, value: JsonValue): boolean {
    if (key === 'arguments' || key === 'input') return this.#fields.append(key, value);
    // Providers that repeat id and name leave them empty after the first time, or not.
    if (value === '' || value === null) return this.#fields.first(key, value);
    if (key !== 'function' && key !== 'custom') return this.#fields.same(key, value);
    const nested = this.#nested.get(key) ?? new CallAssembly();
    this.#nested.set(key, nested);
    return nested.add(objectOf(value) ?? {});
  }
}

/** One of the `content_blocks` that non-strict callers are shown. */
class BlockAssembly {
  #type: string | undefined;
  #fields = new GatheredFields();

  add(delta: JsonObject): boolean {
    for (const key in delta) {
      const value = delta[key];
      if (value === undefined || !this.#take(key, value)) return false;
    }
    return true;
  }

  end(): JsonObject {
    return { type: this.#type ?? 'text', ...this.#fields.values };
  }

  #take(key: string, value: JsonValue): boolean {
    switch (key) {
      case 'text':
        return this.#is('text') && this.#fields.append(key, value);
      case 'citation':
        return this.#is('text') && this.#fields.append('text', '') && this.#cite(value);
      case 'thinking':
        return this.#is('thinking') && this.#fields.append(key, value);
      case 'signature':
        return this.#is('thinking') && this.#fields.once(key, value);
      case 'data':
        return this.#is('redacted_thinking') && this.#fields.once(key, value);
      default:
        // A block of another kind: what the stream left out of it is not known.
        return false;
    }
  }

  #is(type: string): boolean {
    this.#type ??= type;
    return this.#type === type;
  }

  #cite(citation: JsonValue): boolean {
    this.#fields.values.citations = [...(arrayOf(this.#fields.values.citations) ?? []), citation];
    return true;
  }
}
