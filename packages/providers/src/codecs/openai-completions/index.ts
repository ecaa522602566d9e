/**
 * OpenAI's completions as callers speak them, for providers that only chat: the
 * prompt is a user's message, the answer its completion. Providers that offer
 * completions themselves get the caller's bytes and never come here.
 */
import type { CallerCodec } from '../chat-codec.ts';
import { encodeError, errorEvent } from '../openai-chat/errors.ts';
import { decodeRequest } from './decode-request.ts';
import { OpenAiCompletionsStreamEncoder } from './encode-stream.ts';
import { encodeReply } from './reply.ts';

export const openAiCompletions: CallerCodec = {
  format: 'openai-completions',
  decodeRequest,
  encodeReply,
  encodeError,
  openEncoder: (options) => new OpenAiCompletionsStreamEncoder(options),
  errorEvent,
};
