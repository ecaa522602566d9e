import type { ChatChoice, ChatPart, ChatReply, JsonObject, JsonValue } from '@sluice/contracts';
import type { ReplyHead } from '../../contract.ts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { callId, decodeFinishReason, formatName, usageOf } from './wire.ts';

/** Wire → model; undefined when the body holds neither of the two formats. */
export function decodeReply(body: JsonObject, head?: ReplyHead): ChatReply | undefined {
  const response = objectOf(body.chatResponse);
  if (response === undefined) return undefined;
  const choices = arrayOf(response.choices);
  const text = stringOf(response.text);
  if (choices === undefined && text === undefined) return undefined;
  const created = Date.parse(stringOf(response.timeCreated) ?? '');
  const id = head?.headers['opc-request-id'];
  return compact<ChatReply>({
    id: Array.isArray(id) ? id[0] : id,
    model: stringOf(body.modelId),
    createdSeconds: Number.isNaN(created) ? undefined : Math.floor(created / 1000),
    choices:
      choices === undefined
        ? [cohereChoice(response)]
        : choices.map((choice, index) => genericChoice(objectOf(choice) ?? {}, index)),
    usage: usageOf(objectOf(response.usage)),
    extensions: { format: formatName, fields: {} },
  });
}

function genericChoice(choice: JsonObject, index: number): ChatChoice {
  const raw = stringOf(choice.finishReason);
  return compact<ChatChoice>({
    index: numberOf(choice.index) ?? index,
    parts: partsOf(objectOf(choice.message) ?? {}),
    finishReason: raw === undefined ? 'other' : decodeFinishReason(raw),
    rawFinishReason: raw,
    logprobs: objectOf(choice.logprobs),
  });
}

function partsOf(message: JsonObject): ChatPart[] {
  const parts: ChatPart[] = [];
  const thinking = stringOf(message.reasoningContent);
  if (thinking) parts.push({ type: 'thinking', text: thinking });
  const text = textOf(message.content);
  if (text !== '') parts.push({ type: 'text', text });
  const refusal = stringOf(message.refusal);
  if (refusal) parts.push({ type: 'refusal', text: refusal });
  for (const [index, value] of (arrayOf(message.toolCalls) ?? []).entries()) {
    const call = objectOf(value) ?? {};
    const name = stringOf(call.name) ?? '';
    const args = stringOf(call.arguments) ?? '';
    const id = stringOf(call.id) ?? callId(name, args, index);
    parts.push({ type: 'tool-call', id, name, arguments: args });
  }
  return parts;
}

/** The text of a message's parts; the model answers in no others. */
export function textOf(content: JsonValue | undefined): string {
  return (arrayOf(content) ?? []).map((part) => stringOf(objectOf(part)?.text) ?? '').join('');
}

function cohereChoice(response: JsonObject): ChatChoice {
  const calls = cohereCalls(response);
  const text = stringOf(response.text);
  const raw = stringOf(response.finishReason);
  return compact<ChatChoice>({
    index: 0,
    parts: text ? [{ type: 'text', text }, ...calls] : calls,
    finishReason: raw === undefined ? 'other' : decodeFinishReason(raw),
    rawFinishReason: raw,
  });
}

export function cohereCalls(response: JsonObject): (ChatPart & { type: 'tool-call' })[] {
  return (arrayOf(response.toolCalls) ?? []).map((value, index) => {
    const call = objectOf(value) ?? {};
    const name = stringOf(call.name) ?? '';
    const args = JSON.stringify(objectOf(call.parameters) ?? {});
    return { type: 'tool-call', id: callId(name, args, index), name, arguments: args };
  });
}
