import type { ChatReply, ChatRequest, JsonObject } from '@sluice/contracts';
import { withToolCalls } from '../codecs/openai-chat/legacy-functions.ts';
import type { WireFormat } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import { callerCodecs, chatCodecs } from './find-translation.ts';

export interface Conversation {
  /** Undefined = it is no request of this format. */
  readonly request: ChatRequest | undefined;
  /** Undefined = it is no reply of this format. */
  readonly reply: ChatReply | undefined;
}

/** What was asked and answered in the words of a format that callers speak; of a format without messages nothing. */
export function readConversation(
  format: WireFormat,
  request: JsonObject | undefined,
  reply: JsonObject | undefined,
): Conversation {
  return {
    request:
      request && unlessUnreadable(() => callerCodecs[format]?.decodeRequest(request).request),
    reply: reply && unlessUnreadable(() => replyOf(format, reply)),
  };
}

function replyOf(format: WireFormat, body: JsonObject): ChatReply | undefined {
  if (format === 'openai-completions') return completionOf(body);
  return chatCodecs[format]?.decodeReply(format === 'openai-chat' ? withToolCalls(body) : body);
}

/** Its answers are bare texts. */
function completionOf(body: JsonObject): ChatReply | undefined {
  const choices = arrayOf(body.choices);
  if (choices === undefined) return undefined;
  return {
    id: stringOf(body.id),
    choices: choices.map((value, index) => {
      const choice = objectOf(value);
      return {
        index,
        parts: [{ type: 'text', text: stringOf(choice?.text) ?? '' }],
        finishReason: choice?.finish_reason === 'length' ? 'length' : 'stop',
      };
    }),
    extensions: { format: 'openai-completions', fields: {} },
  };
}

function unlessUnreadable<Value>(read: () => Value | undefined): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
