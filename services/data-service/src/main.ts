import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@sluice/telemetry';
import { readEnv } from './settings.ts';
import { wire } from './wiring.ts';

const env = readEnv(process.env);
const logger = createLogger({ service: env.SERVICE_NAME, level: env.LOG_LEVEL });

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => stopping.abort(signal));

try {
  const service = await wire(env, logger);
  const http = createServer(service.app);
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(env.PORT, env.HOST, resolve);
  });
  await service.start(stopping.signal);
  if (!stopping.signal.aborted) {
    const { port } = http.address() as AddressInfo;
    logger.info({ port, grpc_port: service.rpcPort }, 'ready');
    await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
  }
  logger.info({ signal: stopping.signal.reason }, 'stopping');
  http.close();
  http.closeAllConnections();
  await service.stop();
  logger.info('stopped');
  logger.flush(() => process.exit(0));
} catch (error) {
  logger.fatal({ err: error }, 'the service could not start');
  logger.flush(() => process.exit(1));
}
