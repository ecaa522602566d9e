import { encodeError as encodeAnthropicError } from '../codecs/anthropic-messages/errors.ts';
import { encodeError as encodeOpenAiError } from '../codecs/openai-chat/errors.ts';
import type { CallContext, DecodedReply, WireFormat } from '../contract.ts';
import { readVendorError } from '../errors/read-vendor-error.ts';

/** A vendor's error in the caller's envelope. Never throws. */
export function errorForCaller(
  callerFormat: WireFormat,
  status: number,
  bytes: Buffer,
  context: CallContext,
): DecodedReply {
  const error = readVendorError(status, bytes.toString('utf8'));
  const encode = callerFormat.startsWith('anthropic-') ? encodeAnthropicError : encodeOpenAiError;
  const body = encode(status, error, context.provider.id);
  return { body: Buffer.from(JSON.stringify(body)), facts: {} };
}
