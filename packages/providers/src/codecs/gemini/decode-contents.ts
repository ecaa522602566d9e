import type {
  ChatMessage,
  ChatPart,
  JsonObject,
  JsonValue,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { decodeFileData, decodeInline } from './media.ts';
import { callId, formatName } from './wire.ts';

/** `systemInstruction` and `contents` → messages. */
export function decodeContents(
  system: JsonValue | undefined,
  contents: readonly JsonValue[],
): ChatMessage[] {
  const decoder = new ContentsDecoder();
  const messages: ChatMessage[] = [];
  const instruction = decoder.systemParts(system);
  if (instruction.length > 0)
    messages.push({ role: 'system', parts: instruction, path: 'systemInstruction' });
  for (const [index, content] of contents.entries())
    messages.push(...decoder.decode(content, `contents[${index}]`));
  return messages;
}

/** Calls and results find each other by id; where there is none, by name and order. */
class ContentsDecoder {
  #calls = 0;
  #open: { id: string; name: string }[] = [];

  systemParts(system: JsonValue | undefined): ChatPart[] {
    if (typeof system === 'string') return [{ type: 'text', text: system }];
    return this.#parts(objectOf(system)?.parts, 'systemInstruction');
  }

  /** A turn with results of tools is two of our messages: the results, and the rest. */
  decode(value: JsonValue, path: string): ChatMessage[] {
    const content = objectOf(value);
    if (content === undefined) throw invalidField(path, 'must be an object');
    const { role = 'user' } = content;
    if (role !== 'user' && role !== 'model' && role !== 'function')
      throw invalidField(`${path}.role`, 'must be user or model');
    if (role === 'model') this.#open = [];
    const parts = this.#parts(content.parts, path);
    if (role === 'model') return [{ role: 'assistant', parts, path }];
    const results = parts.filter((part) => part.type === 'tool-result');
    const rest = parts.filter((part) => part.type !== 'tool-result');
    const messages: ChatMessage[] = [];
    if (results.length > 0) messages.push({ role: 'tool', parts: results, path });
    if (rest.length > 0 || results.length === 0) messages.push({ role: 'user', parts: rest, path });
    return messages;
  }

  #parts(list: JsonValue | undefined, path: string): ChatPart[] {
    const parts = list === undefined || list === null ? [] : arrayOf(list);
    if (parts === undefined) throw invalidField(`${path}.parts`, 'must be a list');
    return parts.map((value, index) => {
      const part = objectOf(value);
      if (part === undefined) throw invalidField(`${path}.parts[${index}]`, 'must be an object');
      return this.#part(part, `${path}.parts[${index}]`);
    });
  }

  #part(part: JsonObject, path: string): ChatPart {
    const call = objectOf(part.functionCall);
    const result = objectOf(part.functionResponse);
    if (call !== undefined) return this.#call(call, part, path);
    if (result !== undefined) return this.#result(result);
    return decodePart(part) ?? { type: 'foreign', format: formatName, value: part };
  }

  #call(call: JsonObject, part: JsonObject, path: string): ChatPart {
    const name = stringOf(call.name);
    if (name === undefined) throw invalidField(`${path}.functionCall.name`, 'must be a string');
    const id = stringOf(call.id) ?? callId(undefined, 0, this.#calls);
    this.#calls += 1;
    this.#open.push({ id, name });
    return compact({
      type: 'tool-call' as const,
      id,
      name,
      arguments: JSON.stringify(call.args ?? {}),
      signature: stringOf(part.thoughtSignature),
    });
  }

  #result(result: JsonObject): ToolResultPart {
    const name = stringOf(result.name) ?? '';
    const given = stringOf(result.id);
    const place = this.#open.findIndex((call) =>
      given === undefined ? call.name === name : call.id === given,
    );
    const [call] = place === -1 ? [] : this.#open.splice(place, 1);
    const response = objectOf(result.response) ?? {};
    const keys = Object.keys(response);
    const only = keys.length === 1 ? response[keys[0] as string] : undefined;
    const isError = keys[0] === 'error' && typeof only === 'string';
    const isOutput = keys[0] === 'output' && typeof only === 'string';
    const text = isError || isOutput ? (only as string) : JSON.stringify(response);
    const media = (arrayOf(result.parts) ?? []).flatMap((value) => {
      const part = decodePart(objectOf(value) ?? {});
      return part?.type === 'image' || part?.type === 'file' ? [part] : [];
    });
    return compact({
      type: 'tool-result' as const,
      toolCallId: given ?? call?.id ?? name,
      content: [{ type: 'text' as const, text }, ...media],
      isError: isError ? true : undefined,
    });
  }
}

/** A part that is text or media, in requests and replies alike; undefined = another kind. */
export function decodePart(part: JsonObject): ChatPart | undefined {
  const text = stringOf(part.text);
  const signature = stringOf(part.thoughtSignature);
  if (text !== undefined) {
    const type = part.thought === true ? 'thinking' : 'text';
    return compact({ type, text, signature } as const);
  }
  const inline = objectOf(part.inlineData);
  // A sketch on the way to an image is no part of the answer.
  if (inline !== undefined && part.thought !== true) return mark(decodeInline(inline), signature);
  const file = objectOf(part.fileData);
  return file === undefined ? undefined : mark(decodeFileData(file), signature);
}

function mark(part: ChatPart, signature: string | undefined): ChatPart {
  return signature !== undefined && part.type === 'image' ? { ...part, signature } : part;
}
