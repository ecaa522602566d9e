/**
 * OpenAI's chat completions, both ways. `wire.ts` has the format's words;
 * `decode-request`, `encode-request`, `reply`, `decode-stream`,
 * `encode-stream` and `errors` one direction or subject each; `tap.ts` watches
 * native streams.
 */
import type { ChatCodec } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { decodeRequest } from './decode-request.ts';
import { OpenAiChatStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { OpenAiChatStreamEncoder } from './encode-stream.ts';
import { decodeError, encodeError, errorEvent } from './errors.ts';
import { markPrefix } from './mark-prefix.ts';
import { decodeReply, encodeReply } from './reply.ts';

export const openAiChat: ChatCodec = {
  format: 'openai-chat',
  decodeRequest,
  encodeRequest,
  markPrefix,
  decodeReply,
  readBill,
  encodeReply,
  decodeError,
  encodeError,
  openDecoder: () => new OpenAiChatStreamDecoder(),
  openEncoder: (options) => new OpenAiChatStreamEncoder(options),
  errorEvent,
};
