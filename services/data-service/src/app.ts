import express, { type Express } from 'express';

export interface AppParts {
  /** Why the ledger cannot be asked and written; empty = it can. */
  missing: () => Promise<readonly string[]>;
  /** The text of the metrics page. */
  renderMetrics: () => Promise<{ contentType: string; text: string }>;
}

/** Health and metrics for operators. Everything else of this service is gRPC. */
export function createApp(parts: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.get(['/health', '/health/live'], (_req, res) => {
    res.json({ status: 'ok' });
  });
  app.get('/health/ready', async (_req, res) => {
    const missing = await parts.missing();
    const ready = missing.length === 0;
    res.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable', missing });
  });
  app.get('/metrics', async (_req, res) => {
    const { contentType, text } = await parts.renderMetrics();
    res.type(contentType).send(text);
  });
  app.use((_req, res) => {
    res.status(404).json({ status: 'not found' });
  });
  return app;
}
