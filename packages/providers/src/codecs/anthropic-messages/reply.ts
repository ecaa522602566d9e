import type { ChatPart, ChatReply, JsonObject, JsonValue, TextPart } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import { arrayOf, compact, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { markProof } from '../proofs.ts';
import { shownCitations } from './citations.ts';
import {
  decodeServiceTier,
  decodeStopReason,
  encodeStopReason,
  encodeUsage,
  formatName,
  usageOf,
} from './wire.ts';

const knownMembers = new Set(
  'id type role model content stop_reason stop_sequence usage'.split(' '),
);

/** Wire → model; undefined when the body is not a message. */
export function decodeReply(body: JsonObject): ChatReply | undefined {
  const content = arrayOf(body.content);
  if (content === undefined || body.type !== 'message') return undefined;
  const raw = stringOf(body.stop_reason);
  const usage = objectOf(body.usage);
  const fields: JsonObject = {};
  for (const key in body) {
    const value = body[key];
    if (!knownMembers.has(key) && value !== undefined && value !== null) fields[key] = value;
  }
  return compact<ChatReply>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    choices: [
      compact({
        index: 0,
        parts: content.map((block) => decodeBlock(objectOf(block) ?? {})),
        finishReason: raw === undefined ? ('other' as const) : decodeStopReason(raw),
        rawFinishReason: raw,
        stopSequence: stringOf(body.stop_sequence),
      }),
    ],
    usage: usageOf(usage),
    serviceTier: decodeServiceTier(usage ?? {}),
    extensions: { format: formatName, fields },
  });
}

function decodeBlock(block: JsonObject): ChatPart {
  switch (block.type) {
    case 'text': {
      const citations = arrayOf(block.citations) as JsonObject[] | undefined;
      return compact({ type: 'text' as const, text: stringOf(block.text) ?? '', citations });
    }
    case 'thinking':
      return compact({
        type: 'thinking' as const,
        text: stringOf(block.thinking) ?? '',
        // Replies translated from other formats have an empty one: it proves nothing.
        signature: stringOf(block.signature) || undefined,
      });
    case 'redacted_thinking':
      return { type: 'redacted-thinking', data: stringOf(block.data) ?? '' };
    case 'tool_use':
      return {
        type: 'tool-call',
        id: stringOf(block.id) ?? '',
        name: stringOf(block.name) ?? '',
        arguments: JSON.stringify(block.input ?? {}),
      };
    default:
      return { type: 'foreign', format: formatName, value: block };
  }
}

/** Model → wire. Several choices cannot be told here: the first is the message. */
export function encodeReply(reply: ChatReply, options: ReplyOptions): JsonObject {
  const choice = reply.choices[0];
  const content = encodeContent(choice?.parts ?? []);
  const stop =
    choice?.stopSequence !== undefined
      ? 'stop_sequence'
      : encodeStopReason(choice?.finishReason ?? 'stop');
  const hasCalls = content.some((block) => block.type === 'tool_use');
  return {
    id: reply.id ?? `msg_${options.provider}_${ownAnswerId(options)}`,
    type: 'message',
    role: 'assistant',
    model: reply.model ?? options.requestedModel ?? '',
    content: content as JsonValue[],
    stop_reason: hasCalls && stop === 'end_turn' ? 'tool_use' : stop,
    stop_sequence: choice?.stopSequence ?? null,
    usage: encodeUsage(reply.usage ?? noUsage, reply.serviceTier),
    provider: options.provider,
  };
}

function encodeContent(parts: ChatPart[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'thinking')
      blocks.push({ type: 'thinking', thinking: part.text, signature: part.signature ?? '' });
    else if (part.type === 'redacted-thinking')
      blocks.push({ type: 'redacted_thinking', data: part.data });
    else if (part.type === 'text') blocks.push(...encodeText(part, blocks.at(-1)));
    else if (part.type === 'refusal') blocks.push({ type: 'text', text: part.text });
    else if (part.type === 'tool-call') {
      if (part.signature !== undefined) signCall(part.signature, blocks);
      const input = parseObject(part.arguments) ?? {};
      blocks.push({ type: 'tool_use', id: part.id, name: part.name, input });
    } else if (part.type === 'foreign' && part.format === formatName) blocks.push(part.value);
  }
  return blocks;
}

/** With its proof in the thought before; where there is none, in an empty one behind, as streams tell it. */
function encodeText(part: TextPart, before: JsonObject | undefined): JsonObject[] {
  const citations = shownCitations(part.citations);
  const text = { type: 'text', text: part.text, ...(citations.length > 0 && { citations }) };
  if (part.signature === undefined) return [text];
  if (!isUnsigned(before)) return [text, proofAlone(markProof('geminiTold', part.signature))];
  before.signature = markProof('geminiText', part.signature);
  return [text];
}

function proofAlone(signature: string): JsonObject {
  return { type: 'thinking', thinking: '', signature };
}

/** Clients give thoughts back as they got them, and of calls only what the format knows. */
function signCall(signature: string, blocks: JsonObject[]): void {
  const proof = markProof('geminiCall', signature);
  const before = blocks.at(-1);
  if (isUnsigned(before)) before.signature = proof;
  else blocks.push(proofAlone(proof));
}

function isUnsigned(block: JsonObject | undefined): block is JsonObject {
  return block?.type === 'thinking' && block.signature === '';
}
