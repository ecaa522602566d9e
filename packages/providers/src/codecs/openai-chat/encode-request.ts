import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  ResponseFormat,
  ToolResultPart,
} from '@sluice/contracts';
import type { CallContext, EncodedRequest, Quirks } from '../../contract.ts';
import { compact } from '../../json/json-access.ts';
import { dataUrl, urlOfSource } from '../data-url.ts';
import { fitCacheMarks } from '../fit-cache-marks.ts';
import {
  encodeEffort,
  encodeUser,
  factsOfAsked,
  thinksBetweenToolsOnly,
  withTakenSampling,
} from '../openai-abilities.ts';
import { type CacheMarks, cacheMarksOf } from '../openai-cache-marks.ts';
import { takenStops } from '../stop-sequences.ts';
import { encodeAssistant, nameOf } from './encode-assistant.ts';
import { encodeTools } from './encode-tools.ts';
import { formatName } from './wire.ts';

/** OpenAI's other format, and its fields that mean the same here. */
const kin = 'openai-responses';
const shared = new Set([
  'metadata',
  'moderation',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'verbosity',
]);

/** Model → wire. */
export function encodeRequest(
  asked: ChatRequest,
  context: CallContext,
): EncodedRequest & { body: JsonObject } {
  const dropped: string[] = [];
  const facts = factsOfAsked(asked, context);
  const effort = encodeEffort(asked.reasoning, facts, 'chat', dropped);
  const marks = cacheMarksOf(facts, context);
  const taken = withTakenSampling(asked, facts, effort, dropped);
  const request = fitCacheMarks(taken, marks.rules, dropped);
  const messages: JsonObject[] = [];
  const quirks = context.provider.quirks ?? {};
  const shown: JsonObject[] = [];
  for (const message of request.messages) {
    if (message.parts.every((part) => part.type !== 'tool-result')) showResults(shown, messages);
    encodeMessage(message, messages, shown, dropped, { quirks, marks, model: request.model });
  }
  showResults(shown, messages);
  const own = request.extensions.format === formatName;
  const isKin = own || request.extensions.format === kin;
  const extensions = own ? request.extensions.fields : sharedFields(request, dropped);
  const takesTopK = isKin || quirks.takesTopK === true;
  const body = compact<Record<string, unknown>>({
    model: request.model,
    messages,
    stream: request.stream || undefined,
    stream_options:
      request.stream && request.includeUsage !== false ? { include_usage: true } : undefined,
    ...encodeTools(request, marks, dropped),
    [quirks.outputTokensField ?? 'max_tokens']: request.outputTokensMax,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: takesTopK ? request.topK : undefined,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    logit_bias: request.logitBias,
    logprobs: request.logprobs,
    top_logprobs: request.topLogprobs,
    n: request.choices,
    seed: request.seed,
    stop: takenStops(request.stop, { most: quirks.stopsMax }, dropped),
    user: encodeUser(request.user),
    service_tier: isKin ? request.serviceTier : undefined,
    response_format: encodeResponseFormat(request.responseFormat),
    reasoning_effort: effort,
    ...marks.write(request.cacheControl),
    ...extensions,
    ...quirks.translated,
  });
  if (!takesTopK && request.topK !== undefined) dropped.push('top_k');
  if (!isKin && request.serviceTier !== undefined) dropped.push('service_tier');
  if (thinksBetweenToolsOnly(request)) dropped.push('thinking');
  return { body: body as JsonObject, dropped };
}

function sharedFields({ extensions }: ChatRequest, dropped: string[]): JsonObject {
  const result: JsonObject = {};
  for (const key in extensions.fields) {
    const value = extensions.fields[key];
    if (value !== undefined && extensions.format === kin && shared.has(key)) result[key] = value;
    else dropped.push(key);
  }
  return result;
}

/**
 * A tool message holds text only, so what else tools returned follows as the
 * user's, behind all results of the turn, which must not be torn apart.
 */
function showResults(shown: JsonObject[], out: JsonObject[]): void {
  if (shown.length > 0) out.push({ role: 'user', content: shown.splice(0) });
}

/** How a host differs in what messages hold. */
interface HostWays {
  quirks: Quirks;
  marks: CacheMarks;
  model: string;
}

/** Adds to `shown` what of the results goes into a message behind them. */
function encodeMessage(
  message: ChatMessage,
  out: JsonObject[],
  shown: JsonObject[],
  dropped: string[],
  { quirks, marks, model }: HostWays,
): void {
  const named: JsonObject = message.name === undefined ? {} : { name: message.name };
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
  if (message.role === 'assistant') {
    const answer = encodeAssistant(message, dropped, quirks.thinkingBack, model);
    // A turn of which nothing can be told is refused as it stands, and missed by nobody.
    if (answer !== undefined) out.push({ ...answer, ...named });
    return;
  }
  const rest: ChatPart[] = [];
  for (const part of message.parts) {
    if (part.type === 'tool-result')
      out.push(encodeToolResult(part, shown, message, dropped, marks));
    else rest.push(part);
  }
  if (rest.length === 0 && message.parts.length > 0) return;
  showResults(shown, out);
  const role = message.role === 'tool' ? 'user' : message.role;
  out.push({ role, content: encodeContent(rest, message, dropped, marks), ...named });
}

function encodeToolResult(
  part: ToolResultPart,
  shown: JsonObject[],
  message: ChatMessage,
  dropped: string[],
  marks: CacheMarks,
): JsonObject {
  let control = part.cacheControl;
  const texts: string[] = [];
  for (const piece of part.content) {
    if (piece.type !== 'foreign') control ??= piece.cacheControl;
    if (piece.type === 'text') texts.push(piece.text);
    else if (piece.type === 'file' && piece.source.kind === 'text') texts.push(piece.source.text);
    else if (piece.type === 'foreign')
      dropped.push(`${message.path}.tool_result.${piece.value.type}`);
    else {
      const encoded = encodePart(piece);
      if (encoded === undefined || isOnlyTold(piece))
        dropped.push(`${message.path}.${nameOf(piece)}`);
      if (encoded !== undefined) shown.push(encoded);
    }
  }
  const joined = texts.join('\n');
  const text = part.isError === true ? `Error: ${joined}` : joined;
  // What a tool returned is one text here: a mark within it is one at its end.
  const content =
    control === undefined || text === '' ? text : [{ type: 'text', text, ...marks.write(control) }];
  return { role: 'tool', tool_call_id: part.toolCallId, content };
}

function encodeContent(
  parts: ChatPart[],
  message: ChatMessage,
  dropped: string[],
  marks: CacheMarks,
): JsonValue {
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text' && only.cacheControl === undefined)
    return only.text;
  if (parts.length === 0) return '';
  const content: JsonObject[] = [];
  for (const part of parts) {
    const encoded = encodePart(part);
    if (encoded === undefined || isOnlyTold(part)) dropped.push(`${message.path}.${nameOf(part)}`);
    if (encoded === undefined) continue;
    const control = 'cacheControl' in part ? part.cacheControl : undefined;
    content.push(control === undefined ? encoded : { ...encoded, ...marks.write(control) });
  }
  return content;
}

function encodePart(part: ChatPart): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
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

function encodeImage(part: ImagePart): JsonObject | undefined {
  const url = urlOfSource(part.source);
  if (url === undefined) return undefined;
  return {
    type: 'image_url',
    image_url: part.detail === undefined ? { url } : { url, detail: part.detail },
  };
}

/** A file that is elsewhere cannot be sent here: the model is told where it is, which some can make use of. */
function isOnlyTold(part: ChatPart): boolean {
  return part.type === 'file' && part.source.kind === 'url';
}

function encodeFile({ source, filename }: FilePart): JsonObject {
  switch (source.kind) {
    case 'text':
      return { type: 'text', text: source.text };
    case 'url':
      return {
        type: 'text',
        text: `File${filename === undefined ? '' : ` ${filename}`}: ${source.url}`,
      };
    case 'file-id':
      return { type: 'file', file: { file_id: source.fileId } };
    case 'base64':
      // Bytes without a name are refused.
      return {
        type: 'file',
        file: {
          file_data: dataUrl(source.mediaType, source.data),
          filename: filename ?? 'document.pdf',
        },
      };
  }
}

function encodeResponseFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format === undefined) return undefined;
  if (format.type === 'json') return { type: 'json_object' };
  if (format.type === 'text') return { type: 'text' };
  const { description, schema, strict } = format;
  const body = compact({ name: format.name ?? 'response', description, schema, strict });
  return { type: 'json_schema', json_schema: body as JsonObject };
}
