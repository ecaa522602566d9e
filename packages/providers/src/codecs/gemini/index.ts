/**
 * Gemini's generateContent, both ways. `wire.ts` has the format's words,
 * `models.ts` what must be known of a model; `encode-request` (with
 * `encode-contents`, `encode-tools`, `thinking`), `decode-request` (with
 * `decode-contents`), `reply` (with `candidates`), `decode-stream`,
 * `encode-stream` and `errors` are one direction or subject each; `media.ts`
 * is files both ways; `tap.ts` watches native streams.
 */
import type { ChatCodec } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { decodeRequest } from './decode-request.ts';
import { GeminiStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { GeminiStreamEncoder } from './encode-stream.ts';
import { decodeError, encodeError, errorEvent } from './errors.ts';
import { decodeReply, encodeReply } from './reply.ts';

export const gemini: ChatCodec = {
  format: 'gemini',
  needsUserTurn: true,
  signsCalls: true,
  decodeRequest,
  encodeRequest,
  decodeReply,
  readBill,
  encodeReply,
  decodeError,
  encodeError,
  openDecoder: () => new GeminiStreamDecoder(),
  openEncoder: (options) => new GeminiStreamEncoder(options),
  errorEvent,
};
