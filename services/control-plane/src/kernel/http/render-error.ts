import { adminErrorBody, fromUnknown, GatewayError } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import type { ErrorRequestHandler } from 'express';

/** The one place where an error becomes an answer. */
export function renderError(
  logger: Logger,
  /** What failed because something is away is said where that is watched. */
  isOutage: (error: unknown) => boolean,
): ErrorRequestHandler {
  return (caught, req, res, next) => {
    const error = fromUnknown(fromExpress(caught));
    const requestId = String(res.locals.requestId ?? '');
    if (error.status >= 500 && !isOutage(error))
      logger.error(
        {
          request_id: requestId,
          method: req.method,
          path: req.path,
          err: error,
          cause: error.cause,
        },
        'request failed',
      );
    // Part of an answer is out: all that is left is to cut it.
    if (res.headersSent) return next(error);
    for (const [name, value] of Object.entries(error.headers ?? {})) res.setHeader(name, value);
    res.status(error.status).json(adminErrorBody(error, requestId, res.locals.errorForm));
  };
}

/** Express refuses broken percent-encoding in a path by an error of its own. */
function fromExpress(caught: unknown): unknown {
  const status = (caught as { status?: unknown } | null)?.status;
  if (caught instanceof GatewayError || typeof status !== 'number' || status < 400 || status >= 500)
    return caught;
  return new GatewayError('admin.validation', {
    message: 'The address of the request is not valid.',
    cause: caught,
  });
}
