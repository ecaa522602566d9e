import type {
  ChatPart,
  ImagePart,
  JsonObject,
  JsonValue,
  TextPart,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { sourceOfUrl } from '../data-url.ts';
import { formatName } from './wire.ts';

/** `content` of a message: a string, a list of parts, or nothing. */
export function decodeContent(content: JsonValue | undefined, path: string): ChatPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const list = arrayOf(content);
  if (list === undefined)
    throw invalidField(`${path}.content`, 'must be a string or a list of parts');
  return list.map((value, index) => {
    const part = objectOf(value);
    const at = `${path}.content[${index}]`;
    if (part === undefined) throw invalidField(at, 'must be an object');
    return decodePart(part, at);
  });
}

function decodePart(part: JsonObject, path: string): ChatPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: stringOf(part.text) ?? '' };
    case 'thinking':
      return { type: 'thinking', text: stringOf(part.thinking) ?? '' };
    case 'image_url':
      return decodeImage(part, path);
    default:
      return { type: 'foreign', format: formatName, value: part };
  }
}

function decodeImage(part: JsonObject, path: string): ImagePart {
  const image = objectOf(part.image_url);
  const url = stringOf(image?.url);
  if (url === undefined) throw invalidField(`${path}.image_url.url`, 'must be a string');
  const source = sourceOfUrl(url, `${path}.image_url.url`);
  return compact({ type: 'image' as const, source, detail: stringOf(image?.detail) });
}

/** An assistant's message, of a conversation or as a reply. The plan for its calls is a thought. */
export function decodeAssistant(message: JsonObject, path: string): ChatPart[] {
  const content = decodeContent(message.content, path);
  cite(content, arrayOf(message.citations) ?? []);
  const plan = stringOf(message.tool_plan);
  if (plan) content.unshift({ type: 'thinking', text: plan });
  for (const value of arrayOf(message.tool_calls) ?? []) {
    const call = objectOf(value) ?? {};
    const fn = objectOf(call.function);
    content.push({
      type: 'tool-call',
      id: stringOf(call.id) ?? '',
      name: stringOf(fn?.name) ?? '',
      arguments: argumentsOf(fn?.arguments),
    });
  }
  return content;
}

/** Citations stand beside the content here: each goes to the part it is about. */
function cite(content: ChatPart[], citations: JsonValue[]): void {
  for (const value of citations) {
    const citation = objectOf(value);
    if (citation === undefined) continue;
    const named = content[numberOf(citation.content_index) ?? -1];
    const part =
      named?.type === 'text'
        ? named
        : content.find((candidate): candidate is TextPart => candidate.type === 'text');
    if (part !== undefined) part.citations = [...(part.citations ?? []), citation];
  }
}

/** What a tool returned: text, or documents, whose data is told as JSON. */
export function decodeToolMessage(
  message: JsonObject,
  path: string,
  dropped: string[],
): ToolResultPart {
  const toolCallId = stringOf(message.tool_call_id);
  if (toolCallId === undefined) throw invalidField(`${path}.tool_call_id`, 'must be a string');
  const content = decodeContent(message.content, path).flatMap((part, index) => {
    if (part.type === 'text' || part.type === 'image') return [part];
    const document = part.type === 'foreign' ? objectOf(part.value.document) : undefined;
    if (document === undefined) {
      dropped.push(`${path}.content[${index}]`);
      return [];
    }
    if (document.id !== undefined) dropped.push(`${path}.content[${index}].document.id`);
    return [{ type: 'text' as const, text: JSON.stringify(document.data ?? {}) }];
  });
  return { type: 'tool-result', toolCallId, content };
}

/** A call without arguments has the word `null` for them. */
function argumentsOf(value: JsonValue | undefined): string {
  return value === 'null' ? '{}' : (stringOf(value) ?? '');
}
