import { Router } from 'express';

export interface HealthParts {
  /** What is not ready, by name; empty = ready. Answers within its own deadline. */
  missing: () => Promise<string[]>;
}

/** Open to all: whether the process lives, and whether it can serve. */
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
  return router;
}
