/**
 * Cohere's chat (API v2), both ways. `wire.ts` has the format's words; the
 * other files are one direction or subject each.
 */
import type { ChatCodec } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { decodeRequest } from './decode-request.ts';
import { CohereStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { CohereStreamEncoder } from './encode-stream.ts';
import { decodeError, encodeError, errorEvent } from './errors.ts';
import { decodeReply, encodeReply } from './reply.ts';

export const cohereChat: ChatCodec = {
  format: 'cohere-chat',
  decodeRequest,
  encodeRequest,
  decodeReply,
  readBill,
  encodeReply,
  decodeError,
  encodeError,
  openDecoder: () => new CohereStreamDecoder(),
  openEncoder: (options) => new CohereStreamEncoder(options),
  errorEvent,
};
