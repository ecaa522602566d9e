import { airGapPart, type Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { RedisPlace } from '../redis/redis-settings.ts';
import type { Env } from '../settings.ts';

/** Says at start which hosts the gateway's settings lead to, where there is an air gap. */
export function airGap(env: Env, redis: RedisPlace | undefined, logger: Logger): Part {
  return airGapPart({
    isOn: env.AIRGAP,
    addresses: [
      env.CONTROL_PLANE_URL,
      env.CONTROL_PLANE_GRPC_URL,
      env.NATS_URL,
      env.DATA_SERVICE_GRPC_URL,
      ...(redis?.addresses.map(({ host, port }) => `${host}:${port}`) ?? []),
      env.LOG_STORE_BASEPATH,
      env.OTEL_ENDPOINT,
      env.EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT ??
        env.EXPERIMENTAL_GEN_AI_OTEL_OTLP_ENDPOINT,
      ...(env.AIRGAP_HOSTS ?? []),
    ],
    logger,
  });
}
