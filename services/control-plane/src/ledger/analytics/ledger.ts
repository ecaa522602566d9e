import type { DescMessage, DescMethod, MessageInitShape } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { GatewayError } from '@sluice/errors';
import { analytics, usage } from '@sluice/proto-stubs';
import { type RpcClient, toldError } from '@sluice/rpc';
import { type Logger, Outage } from '@sluice/telemetry';

/** Somebody looks at a page: a ledger that is down is said at once. */
const options = { timeoutMs: 10_000, failFast: true };
/** Nobody looks on. What the ledger cannot answer in its time is told as too large, for which a busy machine is no reason. */
const patient = { ...options, timeoutMs: 60_000 };
const { getGraph, getSummary, listGroups, sumCounters } = analytics.AnalyticsService.method;
const { listLogs, getLog, listAttempts } = analytics.LogService.method;
const { writeUsage } = usage.UsageService.method;
const {
  listGaps,
  listRejects,
  replayRejects,
  listAdjustments,
  listModelDays,
  listSeals,
  verifySeals,
  keep,
} = analytics.LedgerService.method;

/** The questions the admin API asks of the data service. One whose signal aborts is not asked any more. */
export interface Ledger {
  getGraph(
    request: MessageInitShape<typeof analytics.GetGraphRequestSchema>,
    signal?: AbortSignal,
  ): Promise<analytics.GetGraphResponse>;
  getSummary(
    request: MessageInitShape<typeof analytics.GetSummaryRequestSchema>,
    signal?: AbortSignal,
  ): Promise<analytics.GetSummaryResponse>;
  listGroups(
    request: MessageInitShape<typeof analytics.ListGroupsRequestSchema>,
    signal?: AbortSignal,
  ): Promise<analytics.ListGroupsResponse>;
  sumCounters(
    request: MessageInitShape<typeof analytics.SumCountersRequestSchema>,
  ): Promise<analytics.SumCountersResponse>;
  listLogs(
    request: MessageInitShape<typeof analytics.ListLogsRequestSchema>,
    signal?: AbortSignal,
  ): Promise<analytics.ListLogsResponse>;
  /** The same for a job, which waits longer. */
  readLogs(
    request: MessageInitShape<typeof analytics.ListLogsRequestSchema>,
  ): Promise<analytics.ListLogsResponse>;
  getLog(
    request: MessageInitShape<typeof analytics.GetLogRequestSchema>,
    signal?: AbortSignal,
  ): Promise<analytics.GetLogResponse>;
  listAttempts(
    request: MessageInitShape<typeof analytics.ListAttemptsRequestSchema>,
    signal?: AbortSignal,
  ): Promise<analytics.ListAttemptsResponse>;
  /** The same records twice are once. */
  writeUsage(request: MessageInitShape<typeof usage.WriteUsageRequestSchema>): Promise<unknown>;
  listGaps(
    request: MessageInitShape<typeof analytics.ListGapsRequestSchema>,
  ): Promise<analytics.ListGapsResponse>;
  listRejects(
    request: MessageInitShape<typeof analytics.ListRejectsRequestSchema>,
  ): Promise<analytics.ListRejectsResponse>;
  listModelDays(
    request: MessageInitShape<typeof analytics.ListModelDaysRequestSchema>,
  ): Promise<analytics.ListModelDaysResponse>;
  listSeals(
    request: MessageInitShape<typeof analytics.ListSealsRequestSchema>,
  ): Promise<analytics.ListSealsResponse>;
  verifySeals(
    request: MessageInitShape<typeof analytics.VerifySealsRequestSchema>,
  ): Promise<analytics.VerifySealsResponse>;
  keep(request: MessageInitShape<typeof analytics.KeepRequestSchema>): Promise<unknown>;
  listAdjustments(
    request: MessageInitShape<typeof analytics.ListAdjustmentsRequestSchema>,
  ): Promise<analytics.ListAdjustmentsResponse>;
  replayRejects(
    request: MessageInitShape<typeof analytics.ReplayRejectsRequestSchema>,
  ): Promise<analytics.ReplayRejectsResponse>;
}

export function createLedger(client: RpcClient): Ledger {
  const ask = <I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { methodKind: 'unary'; input: I; output: O },
    request: MessageInitShape<I>,
    signal: AbortSignal | undefined,
  ) =>
    client.unary(method, request, { ...options, ...(signal && { signal }) }).catch((error) => {
      if (signal?.aborted) throw new GatewayError('request.aborted', { cause: error });
      return translate(error);
    });
  return {
    getGraph: (request, signal) => ask(getGraph, request, signal),
    getSummary: (request, signal) => ask(getSummary, request, signal),
    listGroups: (request, signal) => ask(listGroups, request, signal),
    sumCounters: (request) => client.unary(sumCounters, request, options).catch(translate),
    listLogs: (request, signal) => ask(listLogs, request, signal),
    readLogs: (request) => client.unary(listLogs, request, patient).catch(translate),
    getLog: (request, signal) => ask(getLog, request, signal),
    listAttempts: (request, signal) => ask(listAttempts, request, signal),
    writeUsage: (request) => client.unary(writeUsage, request, options).catch(translate),
    listGaps: (request) => client.unary(listGaps, request, options).catch(translate),
    listRejects: (request) => client.unary(listRejects, request, options).catch(translate),
    listModelDays: (request) => client.unary(listModelDays, request, options).catch(translate),
    listSeals: (request) => client.unary(listSeals, request, options).catch(translate),
    // Every row of weeks is read.
    verifySeals: (request) => client.unary(verifySeals, request, patient).catch(translate),
    keep: (request) => client.unary(keep, request, options).catch(translate),
    listAdjustments: (request) => client.unary(listAdjustments, request, options).catch(translate),
    replayRejects: (request) => client.unary(replayRejects, request, options).catch(translate),
  };
}

function translate(error: unknown): never {
  const { code, details } = error as { code?: number; details?: string };
  if (code === status.INVALID_ARGUMENT)
    throw new GatewayError('admin.validation', { message: details, cause: error });
  throw isBusy(error)
    ? new GatewayError('admin.analytics_busy', { headers: retryLater, cause: error })
    : analyticsAway(error);
}

/** The data service refuses what would wait for too long. */
function isBusy(error: unknown): boolean {
  return toldError(error)?.code === 'admin.analytics_busy';
}

/** The data service is away, or does not answer in time. */
export function analyticsAway(cause: unknown): GatewayError {
  return new GatewayError('admin.analytics_unavailable', {
    headers: retryLater,
    cause,
  });
}

/** What the log says of a data service that is not there or silent, of one that takes too long, and of one that is asked too much. */
export function ledgerOutages(
  logger: Logger,
  client: RpcClient,
  address: string,
): readonly Outage[] {
  const failed = (code: status) => (error: unknown) =>
    (error as { code?: unknown } | null)?.code === code;
  const facts = { address };
  return [
    new Outage({
      logger,
      away: 'the data service is away',
      back: 'the data service is back',
      facts,
      isOutage: failed(status.UNAVAILABLE),
      async probe() {
        const reason = await client.whyUnreachable(2_000);
        if (reason !== undefined) throw new Error(reason);
      },
    }),
    new Outage({
      logger,
      away: 'the data service does not answer in time',
      back: 'the data service answers in time again',
      facts,
      isOutage: failed(status.DEADLINE_EXCEEDED),
      quietMs,
    }),
    new Outage({
      logger,
      away: 'the data service is asked more than it answers',
      back: 'the data service answers all that it is asked again',
      facts,
      isOutage: isBusy,
      quietMs,
    }),
  ];
}

const quietMs = 15_000;

/** A data service starts again in some seconds. */
const retryLater = { 'retry-after': '5' } as const;
