import type { ChatChoice, ChatReply, JsonObject } from '@sluice/contracts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { finishReasonOf } from '../openai-chat/reply.ts';
import { encodeUsage } from '../openai-chat/wire.ts';
import { ownAnswerId } from '../own-answer-id.ts';

/** Model → wire. */
export function encodeReply(reply: ChatReply, options: ReplyOptions): JsonObject {
  const body = {
    id: reply.id ?? `cmpl-${options.provider}-${ownAnswerId(options)}`,
    object: 'text_completion',
    created: reply.createdSeconds ?? Math.floor(options.nowMs / 1000),
    model: reply.model ?? options.requestedModel ?? '',
    provider: options.provider,
    choices: reply.choices.map((choice) => encodeChoice(choice, options.strict)),
    usage: reply.usage === undefined ? undefined : encodeUsage(reply.usage),
  };
  return compact<Record<string, unknown>>(body) as JsonObject;
}

function encodeChoice(choice: ChatChoice, strict: boolean): JsonObject {
  let text = '';
  for (const part of choice.parts)
    if (part.type === 'text' || part.type === 'refusal') text += part.text;
  return {
    text,
    index: choice.index,
    logprobs: choice.logprobs === undefined ? null : encodeLogprobs(choice.logprobs, 0),
    finish_reason: finishReasonOf(choice.finishReason, choice.rawFinishReason, false, strict),
  };
}

/** A chat's list of tokens → parallel lists; `offset` is where its text begins. */
export function encodeLogprobs(logprobs: JsonObject, offset: number): JsonObject {
  const tokens: string[] = [];
  const likelihoods: (number | null)[] = [];
  const alternatives: JsonObject[] = [];
  const offsets: number[] = [];
  let at = offset;
  for (const value of arrayOf(logprobs.content) ?? []) {
    const entry = objectOf(value) ?? {};
    const token = stringOf(entry.token) ?? '';
    tokens.push(token);
    likelihoods.push(numberOf(entry.logprob) ?? null);
    alternatives.push(alternativesOf(entry));
    offsets.push(at);
    at += token.length;
  }
  return {
    tokens,
    token_logprobs: likelihoods,
    top_logprobs: alternatives,
    text_offset: offsets,
  };
}

function alternativesOf(entry: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const value of arrayOf(entry.top_logprobs) ?? []) {
    const other = objectOf(value);
    const token = stringOf(other?.token);
    if (token !== undefined) result[token] = numberOf(other?.logprob) ?? null;
  }
  return result;
}
