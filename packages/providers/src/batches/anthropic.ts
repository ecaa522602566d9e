import type { JsonObject } from '@sluice/contracts';
import { statusOfAnthropicType } from '@sluice/errors';
import { objectOf, stringOf } from '../json/json-access.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { notRunFault } from './not-run-fault.ts';
import { lineFault } from './read-line.ts';
import type { RowDialect, VendorResult } from './row.ts';

const idPattern = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Message batches: `{custom_id, params}` each, and results of one kind of four.
 * https://docs.claude.com/en/api/creating-message-batches
 */
export const anthropicRows: RowDialect = {
  endpoints: ['chatComplete', 'complete', 'createModelResponse', 'messages'],
  translation: (endpoint, context) => findTranslation(context.provider, endpoint, context),
  write({ customId }, params) {
    if (!idPattern.test(customId))
      throw lineFault(
        0,
        'custom_id',
        'must be 1 to 64 letters, digits, hyphens and underscores: Anthropic takes no other',
      );
    return { custom_id: customId, params };
  },
  read: readAnthropicRow,
  endpointOf: () => 'chatComplete',
};

/** A reply of Claude's own, wherever it is hosted. */
export function isClaudeMessage({ type, role, content }: JsonObject): boolean {
  return type === 'message' && role === 'assistant' && Array.isArray(content);
}

function readAnthropicRow(row: JsonObject): VendorResult | undefined {
  const customId = stringOf(row.custom_id);
  const result = objectOf(row.result);
  if (customId === undefined || result === undefined) return undefined;
  const type = stringOf(result.type) ?? '';
  const message = objectOf(result.message);
  if (type === 'succeeded' && message !== undefined)
    return {
      customId,
      reply: message,
      status: 200,
      requestId: stringOf(message.id) ?? '',
      error: undefined,
    };
  const error = objectOf(result.error);
  if (type === 'errored' && error !== undefined) {
    const inner = objectOf(error.error) ?? error;
    return {
      customId,
      reply: objectOf(error.error) === undefined ? { type: 'error', error } : error,
      status: statusOfAnthropicType(stringOf(inner.type) ?? ''),
      requestId: stringOf(error.request_id) ?? '',
      error: undefined,
    };
  }
  return {
    customId,
    reply: undefined,
    status: 0,
    requestId: '',
    // It is `canceled` there.
    error: notRunFault(type === 'canceled' ? 'cancelled' : type) ?? {
      code: 'failed',
      message: 'The provider gave no answer to this line.',
    },
  };
}
