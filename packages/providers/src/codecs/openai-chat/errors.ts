import type { JsonObject } from '@sluice/contracts';
import type { StreamFault } from '../../contract.ts';
import type { ErrorFacts } from '../../errors/error-facts.ts';
import { readVendorError } from '../../errors/read-vendor-error.ts';
import { vendorFault } from '../../errors/vendor-fault.ts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';

/** Compatible providers spell errors in many ways, e.g. FastAPI's `detail`: all are read. */
export function decodeError(status: number, text: string): ErrorFacts {
  return readVendorError(status, text);
}

export function encodeError(_status: number, error: ErrorFacts, provider: string): JsonObject {
  return {
    error: {
      message: `${provider} error: ${error.message}`,
      type: error.type,
      param: error.param,
      code: error.code,
    },
    provider,
  };
}

const statuses = new Map<string, number>(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    permission_error: 403,
    not_found_error: 404,
    rate_limit_error: 429,
    rate_limit_exceeded: 429,
    insufficient_quota: 429,
    tokens: 429,
    requests: 429,
    server_error: 500,
    api_error: 500,
    overloaded_error: 529,
    // What a response that failed names, of what was asked: `ResponseError` of `openai` 7.59, November 2026.
    context_length_exceeded: 400,
    invalid_prompt: 400,
    bio_policy: 400,
    misalignment_policy_violation: 400,
    invalid_image: 400,
    invalid_image_format: 400,
    invalid_base64_image: 400,
    invalid_image_url: 400,
    image_too_large: 400,
    image_too_small: 400,
    image_parse_error: 400,
    image_content_policy_violation: 400,
    invalid_image_mode: 400,
    image_file_too_large: 400,
    unsupported_image_media_type: 400,
    empty_image_file: 400,
    failed_to_download_image: 400,
    image_file_not_found: 400,
  }),
);

/**
 * An error inside a stream: `error` of the chunk or of its first choice
 * (OpenRouter), or MiniMax's `base_resp`. The status is the one it would have
 * had as a plain answer.
 */
export function faultOf(body: JsonObject): StreamFault | undefined {
  const error = objectOf(body.error) ?? objectOf(objectOf(arrayOf(body.choices)?.[0])?.error);
  const message = stringOf(error?.message) ?? stringOf(body.error);
  if (error === undefined && message === undefined) return refusalOf(objectOf(body.base_resp));
  const type = stringOf(error?.type) ?? stringOf(error?.code) ?? 'upstream_error';
  const code = Number(error?.code ?? body.code);
  const status =
    code >= 400 && code <= 599
      ? code
      : (statuses.get(type) ?? statuses.get(String(error?.code)) ?? 502);
  const vendor = vendorFault(error?.code, error?.param);
  return { type, message: message ?? 'The provider reported an error.', status, ...vendor };
}

/** MiniMax's own codes: https://platform.minimax.io/docs/api-reference/errorcode */
const refusals = new Map([
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  [1039, 429],
  [2013, 400],
  [2049, 401],
]);

function refusalOf(base: JsonObject | undefined): StreamFault | undefined {
  const code = numberOf(base?.status_code) ?? 0;
  if (code === 0) return undefined;
  const message = stringOf(base?.status_msg) || 'The provider reported an error.';
  return { type: String(code), message, status: refusals.get(code) ?? 502 };
}

/** Ends the stream without `[DONE]`, so that a cut stream is never taken for a whole one. */
export function errorEvent(fault: StreamFault & { code?: string }): Buffer {
  const error = { message: fault.message, type: fault.type, param: null, code: fault.code ?? null };
  return Buffer.from(`data: ${JSON.stringify({ error })}\n\n`);
}
