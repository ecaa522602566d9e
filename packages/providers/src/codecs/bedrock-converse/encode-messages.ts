import type {
  CacheControl,
  ChatMessage,
  ChatPart,
  ChatRequest,
  JsonObject,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { continuation } from '../anthropic-messages/encode-messages.ts';
import { callInput } from '../call-input.ts';
import { proofOfClaude } from '../proofs.ts';
import { encodeCitation } from './citations.ts';
import { DocumentNames } from './document-names.ts';
import { encodeAudio, encodeMedia } from './media.ts';
import type { Family } from './models.ts';
import { type Turn, Turns } from './turns.ts';
import { encodeCachePoint, formatName } from './wire.ts';

export interface EncodedMessages {
  system: JsonObject[];
  messages: Turn[];
  /** Tools that earlier turns used, whether they are offered again or not. */
  usedTools: Set<string>;
}

interface Work {
  family: Family;
  names: DocumentNames;
  dropped: string[];
  usedTools: Set<string>;
}

export interface TurnRules {
  family: Family;
  /** The last message may be the start of the answer. */
  takesPrefill: boolean;
}

/** Messages → `system` and strictly alternating turns. */
export function encodeMessages(
  request: ChatRequest,
  { family, takesPrefill }: TurnRules,
  dropped: string[],
): EncodedMessages {
  const work: Work = { family, names: new DocumentNames(), dropped, usedTools: new Set() };
  const system: JsonObject[] = [];
  const turns = new Turns();
  for (const [index, message] of request.messages.entries()) {
    if (message.name !== undefined) dropped.push(`${message.path}.name`);
    const isSystem = message.role === 'system' || message.role === 'developer';
    // A turn with results of tools was taken apart: its other parts came after them.
    const before = request.messages[index - 1];
    const offset = before?.path === message.path ? before.parts.length : 0;
    const blocks = encodeParts(message, isSystem, offset, work);
    if (!isSystem) turns.say(message.role, blocks);
    else if (turns.hasBegun) turns.instruct(blocks);
    else system.push(...blocks);
  }
  const messages = turns.end();
  for (const message of messages) nameDocuments(message.content);
  const last = messages.at(-1);
  if (last?.role === 'assistant' && !takesPrefill) {
    dropped.push(request.messages.at(-1)?.path ?? '');
    messages.push({ role: 'user', content: [{ text: continuation }] });
  } else trimPrefill(last);
  const end = messages.at(-1)?.content;
  // Caching of all there is, which other formats ask for once, is a point at the end.
  if (request.cacheControl !== undefined && end?.at(-1)?.cachePoint === undefined)
    end?.push(encodeCachePoint(request.cacheControl));
  return { system, messages, usedTools: work.usedTools };
}

/** A document is not taken without a text beside it. */
function nameDocuments(content: JsonObject[]): void {
  const hasDocument = content.some((block) => block.document !== undefined);
  if (hasDocument && !content.some((block) => block.text !== undefined))
    content.push({ text: 'The document is attached.' });
}

/** The start of an answer, put into the model's mouth, may not end in white space. */
function trimPrefill(last: Turn | undefined): void {
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  if (typeof block?.text === 'string') block.text = block.text.trimEnd();
}

function encodeParts(
  message: ChatMessage,
  isSystem: boolean,
  offset: number,
  work: Work,
): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const [index, part] of message.parts.entries()) {
    const block = encodePart(part, message, offset + index, work);
    if (block === skipped) continue;
    const fits = block !== undefined && (!isSystem || isSystemBlock(block));
    if (!fits) {
      work.dropped.push(`${message.path}.${nameOf(part)}`);
      continue;
    }
    blocks.push(block);
    const control = markOf(part);
    if (control !== undefined) blocks.push(encodeCachePoint(control));
  }
  return blocks;
}

/** A point stands between blocks: a mark inside a result is one behind it. */
function markOf(part: ChatPart): CacheControl | undefined {
  const own = 'cacheControl' in part ? part.cacheControl : undefined;
  if (own !== undefined || part.type !== 'tool-result') return own;
  return part.content.map(markOf).findLast((control) => control !== undefined);
}

/** A part that is carried by leaving it out. */
const skipped: JsonObject = {};

function isSystemBlock(block: JsonObject): boolean {
  return block.text !== undefined || block.guardContent !== undefined;
}

function encodePart(
  part: ChatPart,
  message: ChatMessage,
  index: number,
  work: Work,
): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return encodeText(part, message, work);
    case 'refusal':
      return part.text.trim() === '' ? skipped : { text: part.text };
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto')
        work.dropped.push(`${message.path}.image_url.detail`);
      return encodeMedia(part, `${message.path}.content[${index}]`, work.names);
    case 'file':
      return encodeMedia(part, `${message.path}.content[${index}]`, work.names);
    case 'audio':
      // Claude hears nothing, and says so only after the whole body was sent.
      if (work.family.isClaude)
        throw invalidField(
          `${message.path}.content[${index}]`,
          'holds audio, which this model does not take',
        );
      return encodeAudio(part);
    case 'tool-call':
      return encodeToolCall(part, work);
    case 'tool-result':
      return encodeToolResult(part, message, work);
    case 'thinking':
      return encodeThinkingPart(part.text, part.signature, work);
    case 'redacted-thinking': {
      const redactedContent = proofOfClaude(part.data);
      if (work.family.thinking === 'none' || redactedContent === undefined) return undefined;
      return { reasoningContent: { redactedContent } };
    }
    case 'foreign':
      return part.format === formatName ? part.value : undefined;
  }
}

function encodeText(part: TextPart, message: ChatMessage, work: Work): JsonObject {
  if (part.text.trim() === '') return skipped;
  if (part.citations === undefined) return { text: part.text };
  if (!work.family.isClaude) {
    work.dropped.push(`${message.path}.citations`);
    return { text: part.text };
  }
  const citations = part.citations.map(encodeCitation);
  return { citationsContent: { content: [{ text: part.text }], citations } };
}

function encodeThinkingPart(
  text: string,
  marked: string | undefined,
  { family }: Work,
): JsonObject | undefined {
  const signature = proofOfClaude(marked);
  if (family.thinking === 'none') return undefined;
  // Without its signature Claude does not take its own thinking back.
  if (family.thinking === 'signed' && signature === undefined) return undefined;
  return {
    reasoningContent: { reasoningText: signature === undefined ? { text } : { text, signature } },
  };
}

function encodeToolCall(part: ToolCallPart, work: Work): JsonObject {
  const input = callInput(part);
  work.usedTools.add(part.name);
  return { toolUse: { toolUseId: part.id, name: part.name, input } };
}

function encodeToolResult(part: ToolResultPart, message: ChatMessage, work: Work): JsonObject {
  const content: JsonObject[] = [];
  for (const piece of part.content) {
    if (piece.type === 'text') {
      if (piece.text !== '') content.push({ text: piece.text });
    } else if (piece.type === 'foreign') {
      if (piece.format === formatName) content.push(piece.value);
      else work.dropped.push(`${message.path}.tool_result.${piece.value.type}`);
    } else content.push(encodeMedia(piece, `${message.path}.content`, work.names));
  }
  const result: JsonObject = { toolUseId: part.toolCallId, content };
  if (part.isError !== undefined) result.status = part.isError ? 'error' : 'success';
  return { toolResult: result };
}

function nameOf(part: ChatPart): string {
  if (part.type === 'foreign') return String(part.value.type ?? 'part');
  return part.type.replaceAll('-', '_');
}
