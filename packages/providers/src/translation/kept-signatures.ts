/**
 * What proves a provider's calls of tools, kept for callers that drop the fields
 * in which the proof travels: the next turn finds it by the call it belongs to.
 */
import type {
  ChatMessage,
  ChatPart,
  ChatReply,
  ChatRequest,
  ChatStreamEvent,
} from '@sluice/contracts';
import type { StreamDecoder } from '../codecs/chat-codec.ts';
import type { CallContext } from '../contract.ts';
import { parseObject } from '../json/json-access.ts';

/** Ids alone need not be unique: a call is the same that is asked the same. */
function keyOf(id: string, args: string): string {
  return `${id} ${JSON.stringify(parseObject(args) ?? args)}`;
}

/** The request whose calls have their proofs again; itself where none lacks one that is known. */
export function withKeptSignatures(request: ChatRequest, context: CallContext): ChatRequest {
  const { keptSignatures: kept, owner = '' } = context;
  if (kept === undefined) return request;
  const signed = (part: ChatPart): ChatPart => {
    if (part.type !== 'tool-call' || part.signature !== undefined) return part;
    const signature = kept.find(owner, keyOf(part.id, part.arguments));
    return signature === undefined ? part : { ...part, signature };
  };
  const turn = (message: ChatMessage): ChatMessage => {
    if (message.role !== 'assistant') return message;
    const parts = message.parts.map(signed);
    return parts.every((part, index) => part === message.parts[index])
      ? message
      : { ...message, parts };
  };
  return { ...request, messages: request.messages.map(turn) };
}

/** An answer without an id has calls that are numbered as those of any other. */
export function keepSignatures(reply: ChatReply, context: CallContext): void {
  const { keptSignatures: kept, owner = '' } = context;
  if (kept === undefined || reply.id === undefined) return;
  for (const part of reply.choices.flatMap(({ parts }) => parts))
    if (part.type === 'tool-call' && part.signature !== undefined)
      kept.keep(owner, keyOf(part.id, part.arguments), part.signature);
}

/** The decoder of a stream whose calls come whole, and are kept as they come. */
export function decoderKeepingSignatures(
  decoder: StreamDecoder,
  context: CallContext,
): StreamDecoder {
  const { keptSignatures: kept, owner = '' } = context;
  if (kept === undefined) return decoder;
  let hasId = false;
  const keep = (event: ChatStreamEvent, index: number, events: ChatStreamEvent[]): void => {
    if (event.type === 'reply-start') hasId = event.id !== undefined;
    if (event.type !== 'tool-call-start' || event.signature === undefined || !hasId) return;
    const next = events[index + 1];
    if (next?.type === 'tool-call-delta')
      kept.keep(owner, keyOf(event.id, next.arguments), event.signature);
  };
  return {
    decode(event) {
      const events = decoder.decode(event);
      events.forEach(keep);
      return events;
    },
    end: () => decoder.end(),
  };
}
