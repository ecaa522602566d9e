import type { Metrics } from '@sluice/telemetry';
import { Router } from 'express';

export interface HealthParts {
  /** Undefined when metrics are switched off. */
  metrics: Metrics | undefined;
  /** What is not ready, by name; empty = ready. Answers within its own deadline. */
  missing: () => Promise<string[]>;
}

/** Open to all: whether the process lives, whether it can serve, and its metrics. */
export function healthRoutes(parts: HealthParts): Router {
  const router = Router();
  router.get(['/health', '/health/live'], (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/health/ready', async (_req, res) => {
    const missing = await parts.missing();
    res
      .status(missing.length === 0 ? 200 : 503)
      .json({ status: missing.length === 0 ? 'ok' : 'unavailable', missing });
  });
  const { metrics } = parts;
  if (metrics !== undefined)
    router.get('/metrics', async (_req, res) => {
      res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
    });
  return router;
}
