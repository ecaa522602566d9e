import { createServer } from 'node:http';
import { lockDataDir } from '@sluice/data-dir';
import { createLogger, flushLogger } from '@sluice/telemetry';
import { settings } from './settings.ts';
import { wire } from './wiring.ts';

const env = settings.readEnv(process.env);
const locked = await lockDataDir(env.DATA_DIR, { name: 'DATA_DIR' }).catch(async (error) => {
  const logger = createLogger({ service: 'gateway', level: env.LOG_LEVEL });
  logger.fatal({ err: error }, 'the data folder cannot be used');
  await flushLogger(logger);
  process.exit(1);
});
const gateway = wire(env);
const { logger } = gateway;

const server = createServer({ maxHeaderSize: 64 * 1024 }, gateway.app);
server.keepAliveTimeout = 75_000;
server.headersTimeout = 60_000;
// Large uploads take their time; silence is what the idle deadline is for.
server.requestTimeout = 0;
server.setTimeout(15 * 60_000);

await gateway.start();
server.listen(env.PORT, env.HOST, () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : env.PORT;
  logger.info({ port, metrics_port: gateway.metricsPort }, 'ready');
});
server.on('error', (error) => {
  logger.fatal({ err: error }, 'the port cannot be used');
  process.exitCode = 1;
  void shutDown();
});

/** Upstreams get 1 s of it, usage records 5 s. */
const stopTimeoutMs = 12_000;
let stopping: Promise<void> | undefined;
function shutDown(): Promise<void> {
  stopping ??= (async () => {
    gateway.drain();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
      // A connection that becomes idle later is not closed by `close`.
      setInterval(() => server.closeIdleConnections(), 100).unref();
      setTimeout(() => {
        server.closeAllConnections();
        resolve();
      }, env.DRAIN_TIMEOUT).unref();
    });
    // What hangs while letting go must not keep the process.
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    try {
      await gateway.stop();
      locked.release();
      logger.info('stopped');
    } catch (error) {
      logger.error({ err: error }, 'not everything could be closed');
      process.exitCode = 1;
    }
    await flushLogger(logger);
    process.exit();
  })();
  return stopping;
}

process.on('SIGTERM', () => void shutDown());
process.on('SIGINT', () => void shutDown());
process.on('unhandledRejection', (error) =>
  logger.error({ err: error }, 'a promise was left unhandled'),
);
process.on('uncaughtException', (error) =>
  logger.error({ err: error }, 'an exception was left uncaught'),
);
