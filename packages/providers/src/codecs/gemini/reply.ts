import type { ChatChoice, ChatPart, ChatReply, JsonObject, ThinkingPart } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { markProof, openProof } from '../proofs.ts';
import {
  candidateDetails,
  citationsOf,
  detailsOf,
  logprobsOf,
  logprobsResult,
} from './candidates.ts';
import { decodePart } from './decode-contents.ts';
import { audioType, encodeSource } from './media.ts';
import {
  callId,
  decodeFinishReason,
  encodeFinishReason,
  encodeUsage,
  formatName,
  usageOf,
} from './wire.ts';

/** Wire → model; undefined when the body has neither candidates nor a verdict on the prompt. */
export function decodeReply(body: JsonObject): ChatReply | undefined {
  const candidates = arrayOf(body.candidates);
  const blocked = blockedChoice(body);
  if (candidates === undefined && blocked === undefined) return undefined;
  const id = stringOf(body.responseId);
  const choices = (candidates ?? []).map((value, place) => {
    const candidate = objectOf(value) ?? {};
    return decodeCandidate(candidate, numberOf(candidate.index) ?? place, id);
  });
  if (choices.length === 0 && blocked !== undefined) choices.push(blocked);
  return compact<ChatReply>({
    id,
    model: stringOf(body.modelVersion),
    createdSeconds: createdOf(body),
    choices,
    usage: usageOf(objectOf(body.usageMetadata)),
    extensions: { format: formatName, fields: {} },
  });
}

/** A prompt that was blocked has no candidates, only a reason; at times nothing but its count. */
export function blockedChoice(body: JsonObject): ChatChoice | undefined {
  const feedback = objectOf(body.promptFeedback);
  const raw = stringOf(feedback?.blockReason);
  const isSilent = body.candidates === undefined && objectOf(body.usageMetadata) !== undefined;
  if (raw === undefined && !isSilent) return undefined;
  const details = compact({
    finish_message: stringOf(feedback?.blockReasonMessage),
    safetyRatings: arrayOf(feedback?.safetyRatings),
  });
  return compact<ChatChoice>({
    index: 0,
    parts: [],
    finishReason: 'content-filter',
    rawFinishReason: raw,
    details: Object.keys(details).length === 0 ? undefined : (details as JsonObject),
  });
}

/** Vertex AI tells when; the Gemini API does not. */
export function createdOf(body: JsonObject): number | undefined {
  const created = Date.parse(stringOf(body.createTime) ?? '');
  return Number.isNaN(created) ? undefined : Math.floor(created / 1000);
}

function decodeCandidate(candidate: JsonObject, index: number, id: string | undefined): ChatChoice {
  const parts: ChatPart[] = [];
  let calls = 0;
  for (const value of arrayOf(objectOf(candidate.content)?.parts) ?? []) {
    const part = objectOf(value) ?? {};
    const call = objectOf(part.functionCall);
    if (call === undefined) parts.push(replyPart(part));
    else
      parts.push(
        compact({
          type: 'tool-call' as const,
          id: stringOf(call.id) ?? callId(id, index, calls++),
          name: stringOf(call.name) ?? '',
          arguments: JSON.stringify(call.args ?? {}),
          signature: stringOf(part.thoughtSignature),
        }),
      );
  }
  // A text that says nothing may follow, for a signature to stand on.
  const text = parts.findLast((part) => part.type === 'text' && part.text !== '');
  const citations = text?.type === 'text' ? citationsOf(candidate, text.text) : [];
  if (text?.type === 'text' && citations.length > 0) text.citations = citations;
  const raw = stringOf(candidate.finishReason);
  const hasCalls = parts.some((part) => part.type === 'tool-call');
  return compact<ChatChoice>({
    index,
    parts,
    finishReason: raw === undefined ? 'other' : decodeFinishReason(raw, hasCalls),
    rawFinishReason: raw,
    logprobs: logprobsOf(candidate),
    details: detailsOf(candidate),
  });
}

/** Sound, code and what else an answer may hold that no other format knows is kept whole. */
function replyPart(part: JsonObject): ChatPart {
  const decoded = decodePart(part);
  if (decoded?.type === 'thinking') return markThought(decoded);
  const isKnown = decoded?.type === 'text' || decoded?.type === 'image';
  return isKnown ? decoded : { type: 'foreign', format: formatName, value: part };
}

/** Thoughts are signed by all vendors, so that of each it is said whose it is. */
export function markThought(part: ThinkingPart): ThinkingPart {
  const { signature } = part;
  return signature === undefined
    ? part
    : { ...part, signature: markProof('geminiThought', signature) };
}

/** Model → wire. */
export function encodeReply(reply: ChatReply, options: ReplyOptions): JsonObject {
  const body = {
    candidates: reply.choices.map((choice) => ({
      content: { role: 'model', parts: choice.parts.flatMap(encodePart) },
      finishReason: encodeFinishReason(choice.finishReason),
      index: choice.index,
      ...logprobsResult(choice.logprobs),
      ...candidateDetails(choice.details),
    })),
    usageMetadata: encodeUsage(reply.usage ?? noUsage),
    modelVersion: reply.model ?? options.requestedModel ?? '',
    responseId: reply.id ?? `${options.provider}-${ownAnswerId(options)}`,
    provider: options.provider,
  };
  return body as unknown as JsonObject;
}

function encodePart(part: ChatPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [signedPart({ text: part.text }, part.signature)];
    case 'refusal':
      return [{ text: part.text }];
    case 'thinking':
      return [signedPart({ text: part.text, thought: true }, shownSignature(part.signature))];
    case 'image':
      return [signedPart(encodeSource(part.source, 'image/jpeg'), part.signature)];
    case 'audio':
      return [{ inlineData: { mimeType: audioType(part.format), data: part.data } }];
    case 'tool-call':
      return [callPart(part)];
    case 'foreign':
      return part.format === formatName ? [part.value] : [];
    default:
      return [];
  }
}

/** Of a thought, for callers of this format, who know no marks. */
export function shownSignature(marked: string | undefined): string | undefined {
  return openProof('geminiThought', marked) ?? marked;
}

export function callPart(call: {
  id: string;
  name: string;
  arguments: string;
  signature?: string;
}): JsonObject {
  const args = parseObject(call.arguments) ?? {};
  return signedPart({ functionCall: { id: call.id, name: call.name, args } }, call.signature);
}

export function signedPart(part: JsonObject, signature: string | undefined): JsonObject {
  return signature === undefined ? part : { ...part, thoughtSignature: signature };
}
