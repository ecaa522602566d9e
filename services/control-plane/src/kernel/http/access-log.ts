import type { Logger } from '@sluice/telemetry';
import type { RequestHandler } from 'express';

/**
 * One line a request, when its answer has ended or its caller has gone: who asked
 * for which operation and what came of it. Neither queries nor bodies, which may hold
 * anything; probes are not told.
 */
export function accessLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    if (req.path.startsWith('/health')) return next();
    const startedAt = performance.now();
    const { method, path } = req;
    res.once('close', () => {
      const { requestId, operation, keyId, organisationId } = res.locals;
      logger.info(
        {
          request_id: requestId,
          method,
          path: path.slice(0, pathMax),
          ...(operation === undefined ? {} : { operation }),
          status: res.statusCode,
          ...(res.writableEnded ? {} : { caller_gone: true }),
          ...(organisationId === undefined ? {} : { organisation_id: organisationId }),
          ...(keyId === undefined ? {} : { api_key_id: keyId }),
          latency_ms: Math.round((performance.now() - startedAt) * 100) / 100,
        },
        'request',
      );
    });
    next();
  };
}

const pathMax = 300;
