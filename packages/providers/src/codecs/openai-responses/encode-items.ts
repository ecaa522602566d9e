import type {
  ChatMessage,
  ChatPart,
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/contracts';
import { compact } from '../../json/json-access.ts';
import { customInput } from '../custom-tools.ts';
import { dataUrl } from '../data-url.ts';
import type { CacheMarks } from '../openai-cache-marks.ts';
import { partName } from '../part-name.ts';
import { encryptedContentOf } from './sealed-thinking.ts';
import { formatName } from './wire.ts';

export interface EncodedInput {
  instructions?: string;
  input: JsonObject[];
}

/** Messages → items. A system prompt that leads is the instructions, unless it has to carry a mark. */
export function encodeInput(
  messages: ChatMessage[],
  marks: CacheMarks,
  dropped: string[],
): EncodedInput {
  const input: JsonObject[] = [];
  let instructions: string | undefined;
  for (const [index, message] of messages.entries()) {
    if (message.name !== undefined) dropped.push(`${message.path}.name`);
    reportLost(message, dropped);
    if (index === 0 && message.role === 'system') instructions = textOf(message);
    if (index > 0 || instructions === undefined) encodeMessage(message, input, marks, dropped);
  }
  nameCustomOutputs(input);
  return compact<EncodedInput>({ instructions, input });
}

/** What a custom tool returned has an item type of its own. */
function nameCustomOutputs(input: JsonObject[]): void {
  const calls = input.filter((item) => item.type === 'custom_tool_call');
  if (calls.length === 0) return;
  const ids = new Set(calls.map((item) => item.call_id));
  for (const item of input)
    if (item.type === 'function_call_output' && ids.has(item.call_id))
      item.type = 'custom_tool_call_output';
}

function reportLost(message: ChatMessage, dropped: string[]): void {
  for (const part of message.parts) {
    if (part.type !== 'thinking' && 'signature' in part)
      dropped.push(`${message.path}.thought_signature`);
    if (part.type === 'text' && part.citations !== undefined)
      dropped.push(`${message.path}.citations`);
    if (part.type === 'file' && part.context !== undefined)
      dropped.push(`${message.path}.document.context`);
    if (part.type === 'file' && part.citable !== undefined)
      dropped.push(`${message.path}.document.citations`);
  }
}

/** Undefined when the message is more than plain text. */
function textOf({ parts }: ChatMessage): string | undefined {
  const texts = parts.flatMap((part) =>
    part.type === 'text' && part.cacheControl === undefined ? [part.text] : [],
  );
  return texts.length < parts.length ? undefined : texts.join('\n\n');
}

/** Parts that are items of their own part the message around them. */
function encodeMessage(
  message: ChatMessage,
  input: JsonObject[],
  marks: CacheMarks,
  dropped: string[],
): void {
  const role = message.role === 'tool' ? 'user' : message.role;
  let content: JsonValue[] | undefined;
  for (const part of message.parts) {
    const item = encodeItem(part, message, marks, dropped);
    if (item !== undefined) {
      input.push(item);
      content = undefined;
      continue;
    }
    const encoded = encodeMarkedPart(part, role === 'assistant', marks);
    if (encoded === undefined) {
      dropped.push(`${message.path}.${partName(part)}`);
      continue;
    }
    if (content === undefined) {
      content = [];
      input.push({ type: 'message', role, content });
    }
    content.push(encoded);
  }
}

function encodeItem(
  part: ChatPart,
  message: ChatMessage,
  marks: CacheMarks,
  dropped: string[],
): JsonObject | undefined {
  switch (part.type) {
    case 'tool-call':
      return encodeCall(part);
    case 'tool-result':
      return encodeToolResult(part, message, marks, dropped);
    case 'thinking':
      return encodeThinking(part);
    default:
      return undefined;
  }
}

function encodeCall(part: ToolCallPart): JsonObject {
  const { id: call_id, name } = part;
  if (part.isCustom === true)
    return { type: 'custom_tool_call', call_id, name, input: customInput(part.arguments) };
  return { type: 'function_call', call_id, name, arguments: part.arguments || '{}' };
}

/** What another provider thought cannot be shown to this one as its own. */
function encodeThinking(part: ThinkingPart): JsonObject | undefined {
  const encrypted = part.signature === undefined ? undefined : encryptedContentOf(part.signature);
  if (encrypted === undefined) return undefined;
  const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
  return { type: 'reasoning', summary, encrypted_content: encrypted };
}

function encodeToolResult(
  part: ToolResultPart,
  message: ChatMessage,
  marks: CacheMarks,
  dropped: string[],
): JsonObject {
  const output: JsonObject[] = [];
  for (const piece of part.content) {
    const encoded = encodeMarkedPart(piece, false, marks);
    if (encoded === undefined) dropped.push(`${message.path}.tool_result.${partName(piece)}`);
    else output.push(encoded);
  }
  const { toolCallId, isError, cacheControl } = part;
  const last = output.at(-1);
  if (cacheControl !== undefined && last !== undefined)
    Object.assign(last, marks.write(cacheControl));
  return {
    type: 'function_call_output',
    call_id: toolCallId,
    output: plainText(output, isError) ?? (isError ? [inputText('Error:'), ...output] : output),
  };
}

/** Undefined where there is more than plain text. */
function plainText(output: JsonObject[], isError: boolean | undefined): string | undefined {
  if (output.some((part) => part.type !== 'input_text' || Object.keys(part).length > 2))
    return undefined;
  const text = output.map((part) => part.text).join('\n');
  return isError === true ? `Error: ${text}` : text;
}

function encodeMarkedPart(
  part: ChatPart,
  isAnswer: boolean,
  marks: CacheMarks,
): JsonObject | undefined {
  const encoded = encodeContentPart(part, isAnswer);
  const control = 'cacheControl' in part ? part.cacheControl : undefined;
  if (encoded === undefined || control === undefined) return encoded;
  return { ...encoded, ...marks.write(control) };
}

function encodeContentPart(part: ChatPart, isAnswer: boolean): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return isAnswer ? { type: 'output_text', text: part.text } : inputText(part.text);
    case 'refusal':
      return isAnswer ? { type: 'refusal', refusal: part.text } : inputText(part.text);
    case 'image':
      return encodeImage(part);
    case 'file':
      return encodeFile(part);
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'foreign':
      return part.format === formatName ? part.value : undefined;
    default:
      return undefined;
  }
}

function inputText(text: string): JsonObject {
  return { type: 'input_text', text };
}

function encodeImage({ source, detail = 'auto' }: ImagePart): JsonObject | undefined {
  switch (source.kind) {
    case 'url':
      return { type: 'input_image', image_url: source.url, detail };
    case 'base64':
      return { type: 'input_image', image_url: dataUrl(source.mediaType, source.data), detail };
    case 'file-id':
      return { type: 'input_image', file_id: source.fileId, detail };
    case 'text':
      return undefined;
  }
}

function encodeFile({ source, filename }: FilePart): JsonObject {
  const named: JsonObject = filename === undefined ? {} : { filename };
  switch (source.kind) {
    case 'text':
      return inputText(source.text);
    case 'url':
      return { type: 'input_file', file_url: source.url, ...named };
    case 'file-id':
      return { type: 'input_file', file_id: source.fileId };
    case 'base64':
      // Bytes without a name are refused.
      return {
        type: 'input_file',
        filename: filename ?? 'document.pdf',
        file_data: dataUrl(source.mediaType, source.data),
      };
  }
}
