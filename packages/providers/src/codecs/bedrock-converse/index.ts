/**
 * Bedrock's Converse, both ways. `wire.ts` has the format's words, `models.ts`
 * what a model's name tells and how families differ, `betas.ts` which betas of
 * Claude exist here; `frames.ts` takes off the binary framing; the other files
 * are one direction or subject each.
 */
import type { ChatCodec } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { decodeRequest } from './decode-request.ts';
import { ConverseStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { ConverseStreamEncoder } from './encode-stream.ts';
import { decodeError, encodeError, errorEvent } from './errors.ts';
import { markPrefix } from './mark-prefix.ts';
import { decodeReply, encodeReply } from './reply.ts';

export const bedrockConverse: ChatCodec = {
  format: 'bedrock-converse',
  needsUserTurn: true,
  decodeRequest,
  encodeRequest,
  markPrefix,
  decodeReply,
  readBill,
  encodeReply,
  decodeError,
  encodeError,
  openDecoder: () => new ConverseStreamDecoder(),
  openEncoder: () => new ConverseStreamEncoder(),
  errorEvent,
};
