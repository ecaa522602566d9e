import type { HeaderPrefixes } from '@sluice/contracts';
import type { Part } from '@sluice/service';
import type { Logger, RequestLog } from '@sluice/telemetry';
import type { createReadArrival } from '../http/arrival.ts';
import { HeldBytes } from '../http/held-bytes.ts';
import { OpenStreams } from '../http/open-streams.ts';
import { RequestsUnderWay } from '../http/requests-under-way.ts';
import { SlowBodies } from '../http/slow-bodies.ts';
import type { createGatewayMetrics } from '../metrics.ts';
import type { Env } from '../settings.ts';

interface ServingParts {
  readonly logger: Logger;
  readonly metrics: ReturnType<typeof createGatewayMetrics>;
  readonly prefixes: HeaderPrefixes;
  readonly readArrival: ReturnType<typeof createReadArrival>;
  readonly requestLog: RequestLog | undefined;
}

/** What all routes share: bounds of bodies, what is under way, and whether this is about to end. */
export function servingPart(
  env: Env,
  { logger, metrics, prefixes, readArrival, requestLog }: ServingParts,
) {
  let draining = false;
  const openStreams = new OpenStreams();
  const underWay = new RequestsUnderWay();
  const serving = {
    logger,
    readArrival,
    openStreams,
    underWay,
    metrics,
    bodyBytesMax: { json: env.REQUEST_BODY_BYTES_MAX, form: env.FORM_BODY_BYTES_MAX },
    slowBodies: new SlowBodies({
      bytesPerSecondMin: env.REQUEST_BODY_RATE_MIN,
      graceMs: env.REQUEST_BODY_GRACE,
      timeoutMs: env.REQUEST_BODY_TIMEOUT,
    }),
    heldBytes: new HeldBytes(env.HELD_BODY_BYTES_MAX),
    headerPrefixes: prefixes,
    requestLog,
    isDraining: () => draining,
  };
  const streams: Part = {
    name: 'streams',
    gauges: () => [
      {
        name: 'sluice_open_streams',
        help: 'Replies that are being streamed to callers',
        read: () => openStreams.size,
      },
    ],
  };
  const drain = () => {
    draining = true;
  };
  return { serving, drain, underWay, streams };
}
