import type { ChatMessage, ChatPart, JsonObject, JsonValue, ThinkingPart } from '@sluice/contracts';
import type { ThinkingBack } from '../../contract.ts';
import { writeDetail } from './reasoning-details.ts';

/**
 * An assistant's turn; undefined when nothing of it can be told. Thinking goes
 * back only to providers that have a place for it, and, but for entries of
 * `reasoning_details`, only within a tool loop.
 */
export function encodeAssistant(
  message: ChatMessage,
  dropped: string[],
  back: ThinkingBack | undefined,
  model: string,
): JsonObject | undefined {
  const texts: string[] = [];
  const thoughts: ThinkingPart[] = [];
  const details: JsonObject[] = [];
  const refusals: string[] = [];
  const calls: JsonObject[] = [];
  // Thinking of turns that are over is of no use to the model, and some refuse it.
  const inToolLoop = message.parts.some((part) => part.type === 'tool-call');
  const takesThinking = back !== undefined && (back.models?.test(model) ?? true);
  for (const part of message.parts) {
    // What the provider can tell to be its own it sorts out itself.
    const detail = takesThinking && back.details === true ? writeDetail(part) : undefined;
    if (detail !== undefined) details.push(detail);
    if (part.type === 'text') texts.push(part.text);
    else if (part.type === 'thinking' && takesThinking && (inToolLoop || detail !== undefined))
      thoughts.push(part);
    else if (part.type === 'refusal') refusals.push(part.text);
    else if (part.type === 'tool-call') {
      const fn = { name: part.name, arguments: part.arguments || '{}' };
      calls.push({ id: part.id, type: 'function', function: fn });
    } else if (detail === undefined) dropped.push(`${message.path}.${nameOf(part)}`);
  }
  const isEmpty = texts.length + refusals.length + calls.length === 0;
  if (isEmpty && message.parts.length > 0) return undefined;
  const body: JsonObject = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
  };
  if (takesThinking)
    Object.assign(body, thinkingFields(back, thoughts, details, body.content, model));
  if (refusals.length > 0) body.refusal = refusals.join('');
  if (calls.length > 0) body.tool_calls = calls;
  return body;
}

function thinkingFields(
  back: ThinkingBack,
  thoughts: readonly ThinkingPart[],
  details: JsonObject[],
  content: JsonValue | undefined,
  model: string,
): JsonObject {
  const text = thoughts.map((part) => part.text).join('');
  const fields: JsonObject = {};
  if (back.field !== undefined && text !== '') fields[back.field] = text;
  if (details.length > 0) fields.reasoning_details = details;
  // A provider that takes nothing else is told what came without an entry, too.
  else if (back.details === true && back.field === undefined && text !== '')
    fields.reasoning_details = [{ type: 'reasoning.text', text }];
  if (back.content !== undefined && text !== '')
    fields.content = back.content(text, typeof content === 'string' ? content : '', model);
  return fields;
}

/** How a part that could not be carried is named in `dropped`. */
export function nameOf(part: ChatPart): string {
  if (part.type === 'foreign') return String(part.value.type ?? 'part');
  return part.type.replaceAll('-', '_');
}
