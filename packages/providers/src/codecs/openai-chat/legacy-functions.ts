/**
 * Calls as chat completions had them before tools: an answer has one, without an
 * id, and a message of the role `function` has its result.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-functions
 */
import type { JsonObject, JsonValue, ToolCallPart } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

/** The caller reads calls so: it asked with `functions`. */
export function asksWithFunctions(request: JsonObject): boolean {
  return (arrayOf(request.functions)?.length ?? 0) > 0;
}

/** Gives the calls of one conversation ids, the same in each of its turns, and finds those for their results. */
export class LegacyCalls {
  #count = 0;
  /** Ids of calls without a result, by name. */
  #open = new Map<string, string[]>();

  called(call: JsonObject, path: string): ToolCallPart {
    const name = stringOf(call.name);
    if (name === undefined) throw invalidField(`${path}.name`, 'must be a string');
    const id = `function_call_${this.#count++}`;
    this.#open.set(name, [...(this.#open.get(name) ?? []), id]);
    return { type: 'tool-call', id, name, arguments: stringOf(call.arguments) ?? '' };
  }

  answered(name: string | undefined, path: string): string {
    const id = name === undefined ? undefined : this.#open.get(name)?.shift();
    if (id === undefined)
      throw invalidField(`${path}.name`, 'must be the name of a function that was called before');
    return id;
  }
}

/**
 * A reply whose calls are all where tools have them. Nobody who reads it for others needs that:
 * providers that are asked in this format are asked with tools.
 */
export function withToolCalls(reply: JsonObject): JsonObject {
  const choices = arrayOf(reply.choices)?.map((value): JsonValue => {
    const choice = objectOf(value);
    const message = objectOf(choice?.message);
    const called = objectOf(message?.function_call);
    if (called === undefined) return value;
    const calls = [{ type: 'function', function: called }];
    return { ...choice, message: { ...message, tool_calls: calls } };
  });
  return choices === undefined ? reply : { ...reply, choices };
}

export function encodeFunctionCall({ name, arguments: args }: ToolCallPart): JsonObject {
  return { name, arguments: args || '{}' };
}
