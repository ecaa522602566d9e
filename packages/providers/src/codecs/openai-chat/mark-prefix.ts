import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CachePrefix, CallContext, MemberEdits } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { stableTurns } from '../stable-turns.ts';

/**
 * Marks behind the system prompt, which the tools stand before, and the turns
 * that stay: at hosts that take them, for models that need them. OpenAI itself
 * keeps prompts without any.
 */
export function markPrefix(
  body: JsonObject,
  { ttl }: CachePrefix,
  { provider }: CallContext,
): MemberEdits | undefined {
  const host = provider.quirks?.cacheMarks;
  const messages = arrayOf(body.messages)?.map((message) => objectOf(message));
  if (host === undefined || messages === undefined || !host.models.test(String(body.model)))
    return undefined;
  if (isMarked(body, messages)) return undefined;
  const isLong = ttl === '1h' && host.anHour;
  const control: JsonObject = isLong ? { type: 'ephemeral', ttl } : { type: 'ephemeral' };
  const places = new Set(stableTurns(messages.map((message) => message?.role)));
  const opening = messages.findIndex((message) => !isOfSystem(message));
  places.add((opening < 0 ? messages.length : opening) - 1);
  const marked = messages.map((message, index) =>
    message !== undefined && places.has(index) ? markMessage(message, control) : message,
  );
  if (marked.every((message, index) => message === messages[index])) return undefined;
  return { messages: marked.map((message) => message ?? null) };
}

function isOfSystem(message: JsonObject | undefined): boolean {
  return message?.role === 'system' || message?.role === 'developer';
}

function markMessage(message: JsonObject, control: JsonObject): JsonObject {
  const parts = partsOf(message.content);
  const at = parts.findLastIndex((part) => isMarkable(objectOf(part)));
  if (at < 0) return message;
  const part = { ...objectOf(parts[at]), cache_control: control };
  return { ...message, content: parts.with(at, part) };
}

function partsOf(content: JsonValue | undefined): JsonValue[] {
  const text = stringOf(content);
  return text === undefined ? (arrayOf(content) ?? []) : [{ type: 'text', text }];
}

function isMarkable(part: JsonObject | undefined): boolean {
  return part?.type === 'text' && stringOf(part.text)?.trim() !== '';
}

function isMarked(body: JsonObject, messages: readonly (JsonObject | undefined)[]): boolean {
  const holders = [body, ...messages, ...(arrayOf(body.tools) ?? []).map((tool) => objectOf(tool))];
  return holders.some((holder) => {
    if (holder === undefined) return false;
    const parts = arrayOf(holder.content) ?? [];
    return hasMark(holder) || parts.some((part) => hasMark(objectOf(part) ?? {}));
  });
}

function hasMark(holder: JsonObject): boolean {
  return (holder.cache_control ?? holder.prompt_cache_breakpoint ?? null) !== null;
}
