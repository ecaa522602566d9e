import { GatewayError } from '@sluice/errors';
import express, { type RequestHandler } from 'express';

/** The bytes of a body, packed or not, up to the bound when they are unpacked. */
export function rawBody(bytesMax: number): RequestHandler {
  const read = express.raw({ limit: bytesMax, type: () => true });
  return (req, res, next) =>
    read(req, res, (error: unknown) =>
      error === undefined || error === null ? next() : next(faultOf(error)),
    );
}

function faultOf(error: unknown): GatewayError {
  switch ((error as { type?: string }).type) {
    case 'entity.too.large':
      return new GatewayError('request.too_large', { cause: error });
    case 'encoding.unsupported':
      return new GatewayError('request.unsupported_content_type', { cause: error });
    case 'request.aborted':
      return new GatewayError('request.aborted', { cause: error });
    default:
      return new GatewayError('admin.validation', {
        field: 'body',
        message: 'The body is not what its headers say that it is.',
        cause: error,
      });
  }
}
