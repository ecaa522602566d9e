import { arrivalReader } from '@sluice/contracts';
import type { TlsFiles } from '@sluice/rpc';
import { createRpcMetrics, type Part } from '@sluice/service';
import type { Metrics } from '@sluice/telemetry';
import { type GrpcFrontOptions, grpcFront } from '../grpc/grpc-front.ts';
import type { RequestsUnderWay } from '../http/requests-under-way.ts';
import type { Env } from '../settings.ts';

interface GrpcParts extends Pick<GrpcFrontOptions, 'serving' | 'run' | 'readiness'> {
  readonly certificates: TlsFiles;
  readonly underWay: RequestsUnderWay;
  readonly metrics: Metrics;
}

/** Each method is a series of its own. */
const seriesMax = 10;

/** The port of callers who speak gRPC, where there is one. */
export function grpcPart(env: Env, parts: GrpcParts): readonly Part[] {
  const onConverted = createRpcMetrics(parts.metrics, { seriesMax });
  if (!env.GRPC_ENABLED) return [];
  const { certificates, serving, run, readiness, underWay } = parts;
  return [
    grpcFront({
      serving,
      run,
      readiness,
      onConverted,
      cut: () => underWay.cut(),
      readArrival: arrivalReader(env.TRUSTED_PROXIES ?? []),
      host: env.HOST,
      port: env.GRPC_PORT,
      // The certificate is for the other services unless it is said to be for callers.
      tls: env.HTTP_TLS_ENABLED ? certificates.server : undefined,
      timeoutMs: { unary: env.GRPC_UNARY_TIMEOUT, stream: env.GRPC_STREAM_TIMEOUT },
      tellsFailures: env.GRPC_FAILURES,
    }),
  ];
}
