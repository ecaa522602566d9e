import type { ClickHouseClient } from '@clickhouse/client';
import { type Logger, Outage } from '@sluice/telemetry';

/** What the log says of a ClickHouse that is not there; what it refuses is another matter. */
export function clickHouseOutage(logger: Logger, client: ClickHouseClient, url: string): Outage {
  return new Outage({
    logger,
    away: 'ClickHouse is away',
    back: 'ClickHouse is back',
    facts: { address: new URL(url).host },
    isOutage: isConnectionFault,
    async probe() {
      const { success } = await client.ping();
      if (!success) throw new Error('no answer');
    },
  });
}

const codes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** Node and the client have no code for these. */
const texts = /^(socket hang up|Timeout error\.)/;

function isConnectionFault(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return codes.has(code ?? '') || texts.test(message ?? '');
}
