/**
 * OpenAI's responses, both ways. `wire.ts` has the format's words. Requests:
 * `decode-request` with `decode-items`, `decode-content` and `decode-tools`;
 * `encode-request` with `encode-items`. Replies: `reply` reads them;
 * `encode-reply` and `encode-stream` write them, of `output-items` inside a
 * `response-object`. `sealed-thinking.ts` tells how thoughts keep their proof.
 * `tap.ts` watches native streams.
 */
import type { ChatCodec } from '../chat-codec.ts';
import { decodeError, encodeError } from '../openai-chat/errors.ts';
import { readBill } from './bill.ts';
import { decodeRequest } from './decode-request.ts';
import { ResponsesStreamDecoder } from './decode-stream.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { ResponsesStreamEncoder } from './encode-stream.ts';
import { errorEvent } from './errors.ts';
import { decodeReply } from './reply.ts';

export const openAiResponses: ChatCodec = {
  format: 'openai-responses',
  decodeRequest,
  encodeRequest,
  hasCustomTools: true,
  decodeReply,
  readBill,
  encodeReply,
  decodeError,
  encodeError,
  openDecoder: () => new ResponsesStreamDecoder(),
  openEncoder: (options) => new ResponsesStreamEncoder(options),
  resumeEncoder: (options, sent, textBlock) =>
    ResponsesStreamEncoder.resume(options, sent, textBlock),
  errorEvent,
};
