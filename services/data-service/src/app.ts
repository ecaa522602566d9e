import express, { type Express } from 'express';

export interface AppParts {
  /** True when the ledger can be asked and written. */
  isReady: () => Promise<boolean>;
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
    const ready = await parts.isReady();
    res.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable' });
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
