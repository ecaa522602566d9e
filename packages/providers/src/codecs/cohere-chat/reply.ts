import type { ChatReply, JsonObject } from '@sluice/contracts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { decodeAssistant } from './decode-messages.ts';
import { encodeAssistant } from './encode-messages.ts';
import {
  decodeFinishReason,
  decodeLogprobs,
  encodeFinishReason,
  encodeLogprobs,
  encodeUsage,
  formatName,
  usageOf,
} from './wire.ts';

/** Wire → model; undefined when the body has no message of an assistant. */
export function decodeReply(body: JsonObject): ChatReply | undefined {
  const message = objectOf(body.message);
  if (message?.role !== 'assistant') return undefined;
  const raw = stringOf(body.finish_reason);
  const logprobs = arrayOf(body.logprobs);
  return compact<ChatReply>({
    id: stringOf(body.id),
    choices: [
      compact({
        index: 0,
        parts: decodeAssistant(readable(message), 'message'),
        finishReason: raw === undefined ? ('other' as const) : decodeFinishReason(raw),
        rawFinishReason: raw,
        logprobs: logprobs === undefined ? undefined : decodeLogprobs(logprobs),
      }),
    ],
    usage: usageOf(objectOf(body.usage)),
    extensions: { format: formatName, fields: {} },
  });
}

/** A fault in a request's content is told to the caller; what is no content in a reply is left out. */
function readable(message: JsonObject): JsonObject {
  const content = arrayOf(message.content)?.filter((part) => {
    const type = objectOf(part)?.type;
    return type === 'text' || type === 'thinking';
  });
  return { ...message, content: content ?? stringOf(message.content) ?? null };
}

/** Model → wire. Several choices cannot be told here: the first is the message. */
export function encodeReply(reply: ChatReply, options: ReplyOptions): JsonObject {
  const choice = reply.choices[0];
  const body = {
    id: reply.id ?? `${options.provider}-${ownAnswerId(options)}`,
    finish_reason: encodeFinishReason(choice?.finishReason ?? 'stop', choice?.stopSequence),
    message: encodeAssistant(choice?.parts ?? [], undefined, []),
    usage: reply.usage === undefined ? undefined : encodeUsage(reply.usage),
    logprobs: choice?.logprobs === undefined ? undefined : encodeLogprobs(choice.logprobs),
  };
  return compact<Record<string, unknown>>(body) as JsonObject;
}
