import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { type ErrorCode, errorCodes, GatewayError } from '@sluice/errors';
import { errorKey } from './definition.ts';

/** What the other side says to be wrong with a call, as it said it; undefined = it did not, or is not there. */
export function toldError(error: unknown): GatewayError | undefined {
  const { metadata, details } = (error ?? {}) as Partial<ServiceError>;
  const said = metadata instanceof Metadata ? metadata.get(errorKey)[0] : undefined;
  if (typeof said !== 'string') return undefined;
  const { code, field } = JSON.parse(said) as { code: string; field?: string };
  if (!Object.hasOwn(errorCodes, code) || code === 'internal') return undefined;
  return new GatewayError(code as ErrorCode, {
    message: details,
    ...(field !== undefined && { field }),
    cause: error,
  });
}
