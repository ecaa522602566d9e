import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';
import { type Logger, Outage } from '@sluice/telemetry';

/** What the log says of a ClickHouse that is not there or silent, and of one that has no room or time for what it is asked. */
export function clickHouseOutages(
  logger: Logger,
  client: ClickHouseClient,
  url: string,
): readonly Outage[] {
  const facts = { address: new URL(url).host };
  return [
    new Outage({
      logger,
      away: 'ClickHouse is away',
      back: 'ClickHouse is back',
      facts,
      isOutage: isConnectionFault,
      async probe() {
        const { success } = await client.ping();
        if (!success) throw new Error('no answer');
      },
    }),
    new Outage({
      logger,
      away: 'ClickHouse gives up some of what it is asked',
      back: 'ClickHouse does what it is asked again',
      facts,
      isOutage: (error) => error instanceof ClickHouseError && busyTypes.has(error.type ?? ''),
      quietMs,
    }),
  ];
}

/** What the log says when questions are refused, as their turn does not come in time. */
export function askedTooMuch(logger: Logger): Outage {
  return new Outage({
    logger,
    away: 'more is asked of the ledger than it answers',
    back: 'the ledger answers all that it is asked again',
    isOutage: (error) => error instanceof GatewayError && error.code === 'admin.analytics_busy',
    quietMs,
  });
}

const quietMs = 15_000;

/** Of what ClickHouse says when it is full, slow, or without its own Keeper and replicas, and will do the same later. */
const busyTypes = new Set([
  'TIMEOUT_EXCEEDED',
  'TOO_SLOW',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'SOCKET_TIMEOUT',
  'NETWORK_ERROR',
  'NO_ZOOKEEPER',
  'ABORTED',
  'MEMORY_LIMIT_EXCEEDED',
  'TABLE_IS_READ_ONLY',
  'NOT_ENOUGH_SPACE',
  'TOO_MANY_PARTS',
  'ALL_CONNECTION_TRIES_FAILED',
  'TOO_FEW_LIVE_REPLICAS',
  'UNKNOWN_STATUS_OF_INSERT',
  'QUERY_WAS_CANCELLED',
  'SERVER_OVERLOADED',
  'KEEPER_EXCEPTION',
]);

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
