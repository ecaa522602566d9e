import type {
  CacheControl,
  ChatMessage,
  ChatPart,
  FilePart,
  ImagePart,
  JsonObject,
  MediaSource,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { callInput } from '../call-input.ts';
import { proofOfClaude } from '../proofs.ts';
import { returnedCitations } from './citations.ts';
import { contentOf, Turns } from './turns.ts';
import { formatName, isThought } from './wire.ts';

export interface EncodedMessages {
  system: JsonObject[];
  messages: JsonObject[];
  /** Files are a beta of their own, which the request must name. */
  usesFiles: boolean;
}

export interface TurnRules {
  /** Messages of the role `system` may stand between the others. */
  takesSystemTurns: boolean;
  /** The last message may be the start of the answer. */
  takesPrefill: boolean;
}

/** Messages → `system` and alternating turns. Results of tools come first in their user turn. */
export function encodeMessages(
  messages: ChatMessage[],
  rules: TurnRules,
  dropped: string[],
): EncodedMessages {
  const out: EncodedMessages = { system: [], messages: [], usesFiles: false };
  const turns = new Turns(out.messages, rules.takesSystemTurns);
  let isOpening = true;
  for (const message of messages) {
    const blocks = encodeParts(message, out, dropped);
    if (message.role === 'system' || message.role === 'developer') {
      const texts = blocks.filter((block) => block.type === 'text');
      for (const block of blocks)
        if (block.type !== 'text') dropped.push(`${message.path}.${block.type}`);
      if (isOpening) out.system.push(...texts);
      else turns.instruct(texts);
      continue;
    }
    isOpening = false;
    if (message.role === 'assistant') turns.answer(inOrder(blocks));
    else if (message.role === 'tool') turns.giveResults(blocks);
    else turns.say(blocks);
  }
  turns.end();
  endWithUser(out.messages, messages.at(-1)?.path ?? '', rules, dropped);
  return out;
}

function encodeParts(message: ChatMessage, out: EncodedMessages, dropped: string[]): JsonObject[] {
  if (message.name !== undefined) dropped.push(`${message.path}.name`);
  const blocks: JsonObject[] = [];
  for (const part of message.parts) {
    const block = encodePart(part, message, out);
    if (part.type !== 'thinking' && 'signature' in part)
      dropped.push(`${message.path}.thought_signature`);
    if (part.type === 'image' && part.detail !== undefined && part.detail !== 'auto')
      dropped.push(`${message.path}.image_url.detail`);
    if (block === undefined) dropped.push(`${message.path}.${nameOf(part)}`);
    else if (block !== empty) blocks.push(block);
  }
  return blocks;
}

/** For models that go on with an answer only when they are asked to. */
export const continuation = 'Continue your answer exactly where it ends, and repeat nothing of it.';

/** The start of an answer may not end in white space, and not every model goes on with one. */
function endWithUser(
  turns: JsonObject[],
  path: string,
  { takesPrefill }: TurnRules,
  dropped: string[],
): void {
  const last = turns.at(-1);
  if (last?.role !== 'assistant') return;
  if (takesPrefill) {
    trimPrefill(last);
    return;
  }
  dropped.push(path);
  turns.push({ role: 'user', content: continuation });
}

/** A part that is carried by leaving it out. */
const empty: JsonObject = {};

/**
 * Thinking must lead the turn and calls must close it, whatever order the parts
 * came in. A turn that a thought leads is Claude's own, which may think again
 * before its next call, and what it thought may not be moved.
 */
function inOrder(blocks: JsonObject[]): JsonObject[] {
  const rank = (block: JsonObject): number =>
    isThought(block) ? 0 : block.type === 'tool_use' ? 2 : 1;
  const [first] = blocks;
  const isOwn =
    (first !== undefined && isThought(first)) ||
    blocks.some((block) => rank(block) === 1 && block.type !== 'text');
  return isOwn ? blocks : blocks.toSorted((a, b) => rank(a) - rank(b));
}

function trimPrefill(last: JsonObject): void {
  if (typeof last.content === 'string') last.content = last.content.trimEnd();
  else {
    const block = (last.content as JsonObject[]).at(-1);
    if (block?.type === 'text') block.text = (block.text as string).trimEnd();
  }
}

function encodePart(
  part: ChatPart,
  message: ChatMessage,
  out: EncodedMessages,
): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      // Blocks without text are refused upstream.
      if (part.text.trim() === '') return empty;
      return marked({ type: 'text', text: part.text, ...cited(part.citations) }, part.cacheControl);
    case 'refusal':
      return part.text.trim() === '' ? empty : { type: 'text', text: part.text };
    case 'image':
    case 'file':
      return encodeMedia(part, message.path, out);
    case 'tool-call':
      return encodeToolCall(part);
    case 'tool-result':
      return encodeToolResult(part, message, out);
    case 'thinking': {
      // Without its signature the provider does not take its own thinking back.
      const signature = proofOfClaude(part.signature);
      if (signature === undefined) return undefined;
      return { type: 'thinking', thinking: part.text, signature };
    }
    case 'redacted-thinking': {
      const data = proofOfClaude(part.data);
      return data === undefined ? undefined : { type: 'redacted_thinking', data };
    }
    case 'audio':
      throw invalidField(message.path, 'holds audio, which this provider does not take');
    case 'foreign':
      return part.format === formatName ? part.value : undefined;
  }
}

function cited(citations: JsonObject[] | undefined): JsonObject {
  const returned = returnedCitations(citations);
  return returned.length === 0 ? {} : { citations: returned };
}

function marked(block: JsonObject, cacheControl: CacheControl | undefined): JsonObject {
  return cacheControl === undefined ? block : { ...block, cache_control: { ...cacheControl } };
}

function encodeMedia(part: ImagePart | FilePart, path: string, out: EncodedMessages): JsonObject {
  const { source } = part;
  if (source.kind === 'file-id') out.usesFiles = true;
  if (part.type === 'image' || isPicture(source))
    return marked({ type: 'image', source: encodeSource(source) }, part.cacheControl);
  const block: JsonObject = { type: 'document', source: encodeSource(readable(source, path)) };
  if (part.filename !== undefined) block.title = part.filename;
  if (part.context !== undefined) block.context = part.context;
  if (part.citable !== undefined) block.citations = { enabled: part.citable };
  return marked(block, part.cacheControl);
}

function isPicture(source: MediaSource): boolean {
  return source.kind === 'base64' && /^image\/(?!svg)/.test(source.mediaType);
}

/** Documents are PDFs or plain text: other kinds of text are told as plain, all else cannot be read. */
function readable(source: MediaSource, path: string): MediaSource {
  if (source.kind !== 'base64') return source;
  const { mediaType, data } = source;
  if (mediaType === 'application/pdf') return source;
  if (!textTypes.test(mediaType))
    throw invalidField(
      path,
      `holds a document of the type ${mediaType}, which this provider does not take`,
    );
  return { kind: 'text', mediaType, text: Buffer.from(data, 'base64').toString('utf8') };
}

const textTypes =
  /^(?:text\/.*|(?:.*\+|application\/)(?:json|xml|yaml|x-yaml|toml|javascript|sql|x-sh|x-ndjson))(?:;.*)?$/i;

function encodeSource(source: MediaSource): JsonObject {
  switch (source.kind) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'url':
      return { type: 'url', url: source.url };
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text };
    case 'file-id':
      return { type: 'file', file_id: source.fileId };
  }
}

function encodeToolCall(part: ToolCallPart): JsonObject {
  const input = callInput(part);
  return marked({ type: 'tool_use', id: part.id, name: part.name, input }, part.cacheControl);
}

function encodeToolResult(
  part: ToolResultPart,
  message: ChatMessage,
  out: EncodedMessages,
): JsonObject {
  const blocks: JsonObject[] = [];
  for (const piece of part.content) {
    const block = encodePart(piece, message, out);
    if (block !== undefined && block !== empty) blocks.push(block);
  }
  const result: JsonObject = { type: 'tool_result', tool_use_id: part.toolCallId };
  if (blocks.length > 0) result.content = contentOf(blocks);
  if (part.isError !== undefined) result.is_error = part.isError;
  return marked(result, part.cacheControl);
}

function nameOf(part: ChatPart): string {
  if (part.type === 'foreign') return String(part.value.type ?? 'part');
  return part.type.replaceAll('-', '_');
}
