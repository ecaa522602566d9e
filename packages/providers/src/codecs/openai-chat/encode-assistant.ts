import type { ChatMessage, ChatPart, JsonObject } from '@sluice/contracts';

/**
 * An assistant's turn; undefined when nothing of it can be told. Thinking goes
 * back only to providers that have a field for it, and only within a tool loop.
 */
export function encodeAssistant(
  message: ChatMessage,
  dropped: string[],
  thinkingField: string | undefined,
): JsonObject | undefined {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const refusals: string[] = [];
  const calls: JsonObject[] = [];
  // Thinking of turns that are over is of no use to the model, and some refuse it.
  const inToolLoop = message.parts.some((part) => part.type === 'tool-call');
  const takesThinking = thinkingField !== undefined && inToolLoop;
  for (const part of message.parts) {
    if (part.type === 'text') texts.push(part.text);
    else if (part.type === 'thinking' && takesThinking) thoughts.push(part.text);
    else if (part.type === 'refusal') refusals.push(part.text);
    else if (part.type === 'tool-call') {
      const fn = { name: part.name, arguments: part.arguments || '{}' };
      calls.push({ id: part.id, type: 'function', function: fn });
    } else dropped.push(`${message.path}.${nameOf(part)}`);
  }
  const isEmpty = texts.length + refusals.length + calls.length === 0;
  if (isEmpty && message.parts.length > 0) return undefined;
  const body: JsonObject = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
  };
  if (thinkingField !== undefined && thoughts.length > 0) body[thinkingField] = thoughts.join('');
  if (refusals.length > 0) body.refusal = refusals.join('');
  if (calls.length > 0) body.tool_calls = calls;
  return body;
}

/** How a part that could not be carried is named in `dropped`. */
export function nameOf(part: ChatPart): string {
  if (part.type === 'foreign') return String(part.value.type ?? 'part');
  return part.type.replaceAll('-', '_');
}
