import type {
  ChatChoice,
  ChatPart,
  ChatReply,
  ImagePart,
  JsonObject,
  JsonValue,
} from '@sluice/contracts';
import { arrayOf, compact, numberOf, objectOf, saidIn, stringOf } from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { customArguments } from '../custom-tools.ts';
import { urlOfSource } from '../data-url.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { readCitations } from './citations.ts';
import { askedCustomTools, encodeCustomCall, isCustomCall } from './custom-calls.ts';
import { decodeContentBlocks, signatureOf } from './decode-parts.ts';
import { readImages } from './images.ts';
import { asksWithFunctions, encodeFunctionCall } from './legacy-functions.ts';
import { madeUpCallId } from './made-up-call-id.ts';
import { readThinking } from './reasoning.ts';
import type { ThinkingPiece } from './reasoning-details.ts';
import {
  decodeFinishReason,
  encodeFinishReason,
  encodeUsage,
  formatName,
  usageOf,
} from './wire.ts';

/** Wire → model; undefined when the body has no choices, which makes it a chat completion. */
export function decodeReply(body: JsonObject): ChatReply | undefined {
  const choices = arrayOf(body.choices);
  if (choices === undefined) return undefined;
  return compact<ChatReply>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    createdSeconds: numberOf(body.created),
    choices: choices.map((choice, index) => decodeChoice(body, objectOf(choice) ?? {}, index)),
    usage: usageOf(saidIn(body.usage)),
    serviceTier: stringOf(body.service_tier),
    extensions: {
      format: formatName,
      fields: compact({ system_fingerprint: body.system_fingerprint }) as JsonObject,
    },
  });
}

function decodeChoice(body: JsonObject, choice: JsonObject, index: number): ChatChoice {
  const message = objectOf(choice.message) ?? {};
  const parts: ChatPart[] = [];
  const blocks = arrayOf(message.content_blocks);
  if (blocks !== undefined) parts.push(...decodeContentBlocks(blocks, 'message.content_blocks'));
  else {
    parts.push(...readThinking(message).map(thinkingPart));
    const texts = contentParts(message.content);
    const cited = texts.find((part) => part.type === 'text');
    const citations = readCitations(body, message);
    if (cited !== undefined && citations.length > 0) cited.citations = citations;
    parts.push(...texts, ...readImages(message));
  }
  const refusal = stringOf(message.refusal);
  if (refusal) parts.push({ type: 'refusal', text: refusal });
  for (const [place, value] of (arrayOf(message.tool_calls) ?? []).entries()) {
    const call = objectOf(value) ?? {};
    const id = stringOf(call.id) || madeUpCallId(stringOf(body.id), place);
    if (isCustomCall(call)) {
      const { name, input } = objectOf(call.custom) ?? {};
      const args = customArguments(stringOf(input) ?? '');
      parts.push({ type: 'tool-call', id, name: stringOf(name) ?? '', arguments: args });
      continue;
    }
    const fn = objectOf(call.function);
    parts.push({
      type: 'tool-call',
      id,
      name: stringOf(fn?.name) ?? '',
      arguments: stringOf(fn?.arguments) ?? '',
      ...signatureOf(fn ?? {}),
    });
  }
  // Some providers leave the reason blank.
  const raw = stringOf(choice.finish_reason) || undefined;
  return compact<ChatChoice>({
    index: numberOf(choice.index) ?? index,
    parts,
    finishReason: raw === undefined ? 'other' : decodeFinishReason(raw),
    rawFinishReason: raw,
    logprobs: objectOf(choice.logprobs),
  });
}

/** Unlike a request's, a reply's content is taken as it is: a fault there is not the caller's. */
function contentParts(content: JsonValue | undefined): ChatPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return (arrayOf(content) ?? []).flatMap((value): ChatPart[] => {
    const chunk = objectOf(value);
    if (chunk === undefined || chunk.type === 'thinking') return [];
    if (chunk.type !== 'text') return [{ type: 'foreign', format: formatName, value: chunk }];
    const text = stringOf(chunk.text) ?? '';
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

function thinkingPart(piece: ThinkingPiece): ChatPart {
  if (piece.data !== undefined) return { type: 'redacted-thinking', data: piece.data };
  return { type: 'thinking', ...piece };
}

/** Model → wire. */
export function encodeReply(reply: ChatReply, options: ReplyOptions): JsonObject {
  const asked = {
    strict: options.strict,
    custom: askedCustomTools(options.request),
    withFunctions: asksWithFunctions(options.request),
  };
  const body = {
    id: reply.id ?? `chatcmpl-${options.provider}-${ownAnswerId(options)}`,
    object: 'chat.completion',
    created: reply.createdSeconds ?? Math.floor(options.nowMs / 1000),
    model: reply.model ?? options.requestedModel ?? '',
    provider: options.provider,
    choices: reply.choices.map((choice) => encodeChoice(choice, asked)),
    usage: reply.usage === undefined ? undefined : encodeUsage(reply.usage),
    service_tier: reply.serviceTier,
    ...(reply.extensions.format === formatName ? reply.extensions.fields : {}),
  };
  return compact<Record<string, unknown>>(body) as JsonObject;
}

interface Asked {
  strict: boolean;
  /** The names of custom tools. */
  custom: ReadonlySet<string>;
  /** Not with tools: the first call is all there is room for. */
  withFunctions: boolean;
}

function encodeChoice(choice: ChatChoice, { strict, custom, withFunctions }: Asked): JsonObject {
  const calls: JsonObject[] = [];
  let functionCall: JsonObject | undefined;
  const annotations: JsonObject[] = [];
  let text: string | null = null;
  let refusal: string | undefined;
  let signature: string | undefined;
  for (const part of choice.parts) {
    if (part.type === 'text') {
      annotations.push(
        ...annotationsOf(part.citations ?? [], (text ?? '').length, part.text.length),
      );
      text = (text ?? '') + part.text;
      signature ??= part.signature;
    } else if (part.type === 'refusal') refusal = (refusal ?? '') + part.text;
    else if (part.type === 'tool-call' && withFunctions) functionCall ??= encodeFunctionCall(part);
    else if (part.type === 'tool-call' && custom.has(part.name))
      calls.push({ ...encodeCustomCall(part), ...extraContent(part.signature) });
    else if (part.type === 'tool-call')
      calls.push({
        id: part.id,
        type: 'function',
        function: {
          name: part.name,
          arguments: part.arguments || '{}',
          ...(strict ? {} : signatureField(part.signature)),
        },
        ...extraContent(part.signature),
      });
  }
  const isCall = calls.length > 0 || functionCall !== undefined;
  const message = compact<Record<string, unknown>>({
    role: 'assistant',
    content: text === null && !isCall && refusal === undefined ? '' : text,
    refusal: refusal ?? null,
    tool_calls: calls.length === 0 ? undefined : calls,
    function_call: functionCall,
    annotations: annotations.length === 0 ? undefined : annotations,
    ...extraContent(signature),
    content_blocks: strict ? undefined : contentBlocksOf(choice.parts),
  });
  return {
    index: choice.index,
    message: message as JsonObject,
    logprobs: choice.logprobs ?? null,
    finish_reason: finishReasonOf(
      choice.finishReason,
      choice.rawFinishReason,
      functionCall === undefined ? calls.length > 0 && 'tool_calls' : 'function_call',
      strict,
    ),
    ...(strict ? {} : choice.details),
  };
}

/**
 * How Google's own answers in this format are signed: calls each, a text beside it.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function extraContent(signature: string | undefined): JsonObject {
  return signature === undefined
    ? {}
    : { extra_content: { google: { thought_signature: signature } } };
}

/** How a part is signed, for callers that are not strict. */
export function signatureField(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { thought_signature: signature };
}

/** Strict: the standard's words. Otherwise the provider's own, save for calls, so that nothing is hidden. */
export function finishReasonOf(
  reason: ChatChoice['finishReason'],
  raw: string | undefined,
  wordOfCalls: 'tool_calls' | 'function_call' | false,
  strict: boolean,
): string {
  // Loops that run tools look for this one word, which some providers do not have.
  if (wordOfCalls && (reason === 'stop' || reason === 'tool-calls')) return wordOfCalls;
  return !strict && raw !== undefined ? raw : encodeFinishReason(reason);
}

/** Pages that a text rests on, where in the answer: all of the text where the provider does not say. */
export function annotationsOf(
  citations: readonly JsonObject[],
  offset: number,
  length: number,
): JsonObject[] {
  const annotations: JsonObject[] = [];
  for (const citation of citations) {
    const url = stringOf(citation.url);
    if (url === undefined) continue;
    annotations.push({
      type: 'url_citation',
      url_citation: {
        url,
        title: stringOf(citation.title) ?? '',
        start_index: offset + (numberOf(citation.start_index) ?? 0),
        end_index: offset + (numberOf(citation.end_index) ?? length),
      },
    });
  }
  return annotations;
}

function contentBlocksOf(parts: ChatPart[]): JsonValue[] {
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'text')
      blocks.push(
        part.citations === undefined
          ? { type: 'text', text: part.text, ...signatureField(part.signature) }
          : {
              type: 'text',
              text: part.text,
              citations: part.citations,
              ...signatureField(part.signature),
            },
      );
    else if (part.type === 'image') blocks.push(imageBlock(part));
    else if (part.type === 'thinking')
      blocks.push(
        part.signature === undefined
          ? { type: 'thinking', thinking: part.text }
          : { type: 'thinking', thinking: part.text, signature: part.signature },
      );
    else if (part.type === 'redacted-thinking')
      blocks.push({ type: 'redacted_thinking', data: part.data });
    else if (part.type === 'foreign') blocks.push(part.value);
  }
  return blocks;
}

function imageBlock(part: ImagePart): JsonObject {
  const url = urlOfSource(part.source) ?? '';
  return { type: 'image_url', image_url: { url }, ...signatureField(part.signature) };
}
