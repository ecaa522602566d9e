import type { StreamFault } from '../contract.ts';
import { parseObject, stringOf } from '../json/json-access.ts';
import type { AwsFrame } from './aws-frame.ts';

/**
 * The HTTP status each exception of the runtimes would have had as a plain
 * answer. Where AWS answers 424 for a failure of the model itself, it is 502
 * here: nothing the caller sent was at fault.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
 */
const statuses = new Map(
  Object.entries({
    accessDeniedException: 403,
    conflictException: 409,
    expiredTokenException: 403,
    internalFailure: 500,
    internalServerException: 500,
    internalStreamFailure: 500,
    modelErrorException: 502,
    modelNotReadyException: 429,
    modelStreamErrorException: 502,
    modelStreamError: 502,
    modelTimeoutException: 504,
    resourceNotFoundException: 404,
    serviceQuotaExceededException: 429,
    serviceUnavailable: 503,
    serviceUnavailableException: 503,
    throttlingException: 429,
    unrecognizedClientException: 403,
    validationException: 400,
  }),
);

/** Names come in camel case inside streams, and in Pascal case elsewhere. */
export function statusOfException(name: string): number | undefined {
  return statuses.get(name.charAt(0).toLowerCase() + name.slice(1));
}

/** An exception or error frame; undefined for an event. */
export function faultOfFrame(frame: AwsFrame): StreamFault | undefined {
  if (frame.kind === 'event') return undefined;
  const body = parseObject(frame.payload.toString('utf8'));
  const message = frame.message ?? stringOf(body?.message) ?? stringOf(body?.Message);
  return {
    type: frame.name === '' ? 'internalServerException' : frame.name,
    message: message ?? 'The provider reported an error.',
    status: statusOfException(frame.name) ?? 502,
  };
}
