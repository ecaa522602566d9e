import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CallContext } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';
import type { OwnWords } from '../own-words.ts';

/**
 * A request without what this gateway told of other formats' answers:
 * `content_blocks` and `thought_signature`, which repeat text and calls with
 * what proves them. Undefined where there is none. Google's `extra_content` is
 * left alone where the address is the caller's, since Google may be there.
 */
export function withoutForeign(body: JsonObject, context: CallContext): OwnWords | undefined {
  const messages = arrayOf(body.messages);
  const isForeign = context.hasCustomHost === true ? isOurs : isOursOrGoogles;
  if (messages === undefined || !messages.some(isForeign)) return undefined;
  const dropped: string[] = [];
  const kept = messages.map((message, index) =>
    isForeign(message)
      ? ownMessage(message as JsonObject, context, `messages[${index}]`, dropped)
      : message,
  );
  return { body: { ...body, messages: kept }, dropped };
}

function isOurs(value: JsonValue): boolean {
  const message = objectOf(value);
  if (message?.role !== 'assistant') return false;
  const { content_blocks, tool_calls } = message;
  return (
    content_blocks !== undefined || (Array.isArray(tool_calls) && tool_calls.some(hasOurSignature))
  );
}

function isOursOrGoogles(value: JsonValue): boolean {
  const message = objectOf(value);
  if (message?.role !== 'assistant') return false;
  const { extra_content, tool_calls } = message;
  return (
    isOurs(message) ||
    isGoogles(extra_content) ||
    (Array.isArray(tool_calls) && tool_calls.some(hasGooglesSignature))
  );
}

function hasOurSignature(call: JsonValue): boolean {
  return objectOf(objectOf(call)?.function)?.thought_signature !== undefined;
}

function hasGooglesSignature(call: JsonValue): boolean {
  return isGoogles(objectOf(call)?.extra_content);
}

function isGoogles(extra: JsonValue | undefined): boolean {
  return objectOf(extra)?.google !== undefined;
}

function ownMessage(
  message: JsonObject,
  context: CallContext,
  path: string,
  dropped: string[],
): JsonObject {
  const { content_blocks, tool_calls, ...rest } = message;
  if (content_blocks !== undefined) dropped.push(`${path}.content_blocks`);
  const kept = withoutGoogles(rest, context, path, dropped);
  if (!Array.isArray(tool_calls)) return tool_calls === undefined ? kept : { ...kept, tool_calls };
  return {
    ...kept,
    tool_calls: tool_calls.map((value, index) => {
      const call = objectOf(value);
      if (call === undefined) return value;
      const at = `${path}.tool_calls[${index}]`;
      const own = withoutGoogles(call, context, at, dropped);
      if (!hasOurSignature(call)) return own;
      const { thought_signature: _, ...called } = own.function as JsonObject;
      dropped.push(`${at}.function.thought_signature`);
      return { ...own, function: called };
    }),
  };
}

function withoutGoogles(
  value: JsonObject,
  { hasCustomHost }: CallContext,
  path: string,
  dropped: string[],
): JsonObject {
  if (hasCustomHost === true || !isGoogles(value.extra_content)) return value;
  const { extra_content, ...rest } = value;
  const { google: _, ...others } = extra_content as JsonObject;
  dropped.push(`${path}.extra_content.google`);
  return Object.keys(others).length === 0 ? rest : { ...rest, extra_content: others };
}
