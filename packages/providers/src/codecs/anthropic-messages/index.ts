/**
 * Anthropic's messages, both ways. `wire.ts` has the format's words and
 * `models.ts` what must be known of a Claude model; the other files are one
 * direction or subject each; `tap.ts` watches native streams.
 */
import { objectOf } from '../../json/json-access.ts';
import type { ChatCodec } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { decodeRequest } from './decode-request.ts';
import { AnthropicStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { AnthropicStreamEncoder } from './encode-stream.ts';
import { decodeError, encodeError, errorEvent } from './errors.ts';
import { markPrefix } from './mark-prefix.ts';
import { decodeReply, encodeReply } from './reply.ts';

export const anthropicMessages: ChatCodec = {
  format: 'anthropic-messages',
  needsUserTurn: true,
  decodeRequest,
  encodeRequest,
  markPrefix,
  decodeReply,
  readBill: (body) => readBill(objectOf(body.usage) ?? {}),
  encodeReply,
  decodeError,
  encodeError,
  openDecoder: () => new AnthropicStreamDecoder(),
  openEncoder: (options) => new AnthropicStreamEncoder(options),
  resumeEncoder: (options, sent) => AnthropicStreamEncoder.resume(options, sent),
  errorEvent,
};
