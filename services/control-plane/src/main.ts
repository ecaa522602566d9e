import { createLogger } from '@sluice/telemetry';
import { env } from './settings.ts';
import { startControlPlane } from './wiring.ts';

const logger = createLogger({ service: env.SERVICE_NAME, level: env.LOG_LEVEL });

try {
  const service = await startControlPlane(env, logger);
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, async () => {
      if (stopping) return;
      stopping = true;
      logger.info({ signal }, 'stopping');
      // Whatever hangs in closing must not keep the process.
      setTimeout(() => process.exit(1), env.DRAIN_TIMEOUT + 5_000).unref();
      await service.close();
      process.exit(0);
    });
  logger.info(
    { port: service.httpPort, grpc_port: service.grpcPort, metrics_port: service.metricsPort },
    'ready',
  );
} catch (error) {
  logger.fatal({ err: error }, 'start failed');
  process.exit(1);
}
