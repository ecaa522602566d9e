import type {
  ChatMessage,
  ChatPart,
  JsonObject,
  JsonValue,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { urlOfSource } from '../data-url.ts';
import { partName } from '../part-name.ts';
import { formatName } from './wire.ts';

/** @param refusesThoughts  whether the model refuses what was thought before an answer, as those do that do not think */
export function encodeMessages(
  messages: ChatMessage[],
  refusesThoughts: boolean,
  dropped: string[],
): JsonObject[] {
  const out: JsonObject[] = [];
  for (const message of messages) {
    noteDropped(message, dropped);
    if (message.role === 'assistant') {
      const { parts } = message;
      const isPlan = parts.some((part) => part.type === 'tool-call');
      const told = parts.filter((part) => part.type !== 'thinking' || isPlan || !refusesThoughts);
      if (told.length < parts.length) dropped.push(`${message.path}.thinking`);
      if (told.length > 0 || parts.length === 0) out.push(encodeAssistant(told, message, dropped));
    } else encodeOther(message, out, dropped);
  }
  return out;
}

function noteDropped(message: ChatMessage, dropped: string[]): void {
  if (message.name !== undefined) dropped.push(`${message.path}.name`);
  for (const part of message.parts) {
    if (part.type === 'thinking' && part.signature !== undefined)
      dropped.push(`${message.path}.thinking.signature`);
    if (part.type === 'text' && part.citations?.every(isOwn) === false)
      dropped.push(`${message.path}.citations`);
    if (part.type !== 'file') continue;
    if (part.context !== undefined) dropped.push(`${message.path}.document.context`);
    if (part.citable !== undefined) dropped.push(`${message.path}.document.citations`);
  }
}

function encodeOther(message: ChatMessage, out: JsonObject[], dropped: string[]): void {
  const media: ChatPart[] = [];
  const rest: ChatPart[] = [];
  for (const part of message.parts) {
    if (part.type === 'tool-result') out.push(encodeToolResult(part, media, message, dropped));
    else rest.push(part);
  }
  // A tool message holds text only, so what else a tool returned follows as the user's.
  if (media.length > 0) out.push({ role: 'user', content: encodeContent(media, message, dropped) });
  if (rest.length === 0 && message.role === 'tool') return;
  const role = message.role === 'system' || message.role === 'developer' ? 'system' : 'user';
  out.push({ role, content: encodeContent(rest, message, dropped) });
}

function encodeToolResult(
  part: ToolResultPart,
  media: ChatPart[],
  message: ChatMessage,
  dropped: string[],
): JsonObject {
  const texts: string[] = [];
  for (const piece of part.content) {
    if (piece.type === 'text') texts.push(piece.text);
    else if (piece.type === 'file' && piece.source.kind === 'text') texts.push(piece.source.text);
    else if (piece.type === 'foreign')
      dropped.push(`${message.path}.tool_result.${partName(piece)}`);
    else media.push(piece);
  }
  const content =
    texts.length === 1 ? (texts[0] as string) : texts.map((text) => ({ type: 'text', text }));
  return {
    role: 'tool',
    tool_call_id: part.toolCallId,
    content: part.isError === true ? `Error: ${texts.join('\n')}` : content,
  };
}

function encodeContent(parts: ChatPart[], message: ChatMessage, dropped: string[]): JsonValue {
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text') return only.text;
  if (parts.length === 0) return '';
  const content: JsonObject[] = [];
  for (const part of parts) {
    const encoded = encodePart(part, message.path);
    if (encoded === undefined) dropped.push(`${message.path}.${partName(part)}`);
    else content.push(encoded);
  }
  return content;
}

function encodePart(part: ChatPart, path: string): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image': {
      const url = urlOfSource(part.source);
      if (url === undefined) return undefined;
      const detail: JsonObject = part.detail === undefined ? {} : { detail: part.detail };
      return { type: 'image_url', image_url: { url, ...detail } };
    }
    case 'file':
      return part.source.kind === 'text' ? { type: 'text', text: part.source.text } : undefined;
    case 'audio':
      throw invalidField(path, 'holds audio, which this provider does not take');
    case 'foreign':
      return part.format === formatName ? part.value : undefined;
    default:
      return undefined;
  }
}

/**
 * An assistant's message. What was thought before calls is their plan, which
 * every model that calls tools takes back; models that do not think refuse
 * thinking as content.
 */
export function encodeAssistant(
  parts: ChatPart[],
  message: ChatMessage | undefined,
  dropped: string[],
): JsonObject {
  const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
  const plans: string[] = [];
  const content: JsonObject[] = [];
  const citations: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'thinking' && calls.length > 0) plans.push(part.text);
    else if (part.type === 'thinking') content.push({ type: 'thinking', thinking: part.text });
    else if (part.type === 'text') {
      citations.push(...citationsOf(part, content.length));
      content.push({ type: 'text', text: part.text });
    } else if (part.type === 'refusal') content.push({ type: 'text', text: part.text });
    else if (part.type === 'foreign' && part.format === formatName) content.push(part.value);
    else if (part.type !== 'tool-call') dropped.push(`${message?.path}.${partName(part)}`);
  }
  const result: JsonObject = { role: 'assistant' };
  if (plans.length > 0) result.tool_plan = plans.join('\n');
  if (content.length > 0) result.content = content;
  if (calls.length > 0) result.tool_calls = calls.map(encodeCall);
  if (citations.length > 0) result.citations = citations;
  return result;
}

function encodeCall(call: ToolCallPart): JsonObject {
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments || '{}' },
  };
}

/** Only what is in this format's words: others cite by other means. */
function citationsOf(part: TextPart, index: number): JsonObject[] {
  return (part.citations ?? [])
    .filter(isOwn)
    .map((citation) => ({ ...citation, content_index: index }));
}

function isOwn(citation: JsonObject): boolean {
  return Array.isArray(citation.sources);
}
