import type { AnswerOf } from '@sluice/contracts/admin';
import type { analytics, usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { instant } from '../../kernel/http/shapes.ts';
import { presentCall } from './present-call.ts';
import type { ShownContent } from './read-content.ts';
import { attemptMsOf, centsOf, entryMsOf, errorOf, isSuccess, logIdOf } from './record-parts.ts';

type Log = AnswerOf<'logs.read'>;

/** An entry of the ledger as the published log object; with its content, where that was looked for. */
export function presentLog(
  entry: analytics.LogEntry,
  record: usage.UsageRecord,
  organisationName: string | undefined,
  content?: ShownContent,
): Log {
  const createdAt = instant(new Date(Number(record.createdAtMs)));
  const responseTime = Math.round(entryMsOf(record));
  const error = errorOf(record);
  const call = presentCall(record);
  return {
    _id: logIdOf(record),
    request: {
      url: record.requestUrl,
      method: methodOf(record.method),
      serviceHeaders: {},
      ...content?.request,
    },
    response: {
      status: record.statusCode,
      responseTime,
      lastUsedOptionJsonPath: record.optionPath,
      ...content?.response,
    },
    organisation_id: record.organisationId,
    created_at: createdAt,
    metrics: {
      ...namesOf(record),
      ...timesOf(record),
      organisation_name: organisationName,
      created_at: createdAt,
      is_success: isSuccess(record),
      req_units: Number(record.inputTokens),
      res_units: Number(record.outputTokens),
      total_units: Number(record.inputTokens + record.outputTokens),
      // With what was added later. The published object has a number here: what is not known is 0.
      cost: centsOf(record.costNanoUsd + entry.adjustedNanoUsd),
      cost_known: record.costKnown,
      cost_currency: 'USD',
      ...(record.unpricedUnits !== '' && { unpriced_units: record.unpricedUnits.split(',') }),
      response_status_code: record.statusCode,
      response_time: responseTime,
      retry_success_count: isSuccess(record) ? Math.max(0, record.retryCount) : 0,
    },
    ...(record.logFormat !== '' && { log_format: record.logFormat }),
    request_id: uuidText(record.requestId),
    ...(call !== undefined && { call }),
    ...(content !== undefined && { content: content.state }),
    ...(content?.transformedRequest !== undefined && {
      transformedRequest: content.transformedRequest,
    }),
    ...(content?.originalResponse !== undefined && { originalResponse: content.originalResponse }),
    ...(error !== undefined && { error }),
  };
}

function namesOf(record: usage.UsageRecord) {
  const metadata = Object.entries(record.metadata);
  return {
    id: logIdOf(record),
    organisation_id: record.organisationId,
    workspace_slug: record.workspaceSlug,
    ai_org: record.provider,
    ai_model: record.model,
    request_url: record.requestUrl,
    request_method: record.method,
    is_proxy_call: record.isProxyCall,
    cache_status: record.cacheStatus,
    cache_type: record.cacheType === '' ? null : record.cacheType,
    stream_mode: record.stream ? 1 : 0,
    trace_id: record.traceId,
    internal_trace_id: uuidText(record.requestId),
    span_id: record.spanId,
    span_name: record.spanName,
    parent_span_id: record.parentSpanId,
    mode: record.strategyMode,
    virtual_key: record.providerSlug,
    source: record.source === '' ? 'gateway' : record.source,
    runtime: record.runtime,
    runtime_version: record.runtimeVersion,
    sdk_version: record.sdkVersion,
    config: record.configSlug === '' ? record.configId : record.configSlug,
    config_id: record.configId,
    config_version_id: record.configVersionId,
    prompt_id: record.promptId,
    prompt_slug: record.promptSlug,
    prompt_version_id: record.promptVersionId,
    last_used_option_index: lastIndexOf(record.optionPath),
    ...(record.logFormat !== '' && { log_store_file_path_format: record.logFormat }),
    'metadata.key': metadata.map(([key]) => key),
    'metadata.value': metadata.map(([, value]) => value),
    api_key_id: record.apiKeyId,
  };
}

function timesOf(record: usage.UsageRecord) {
  const upstream = attemptMsOf(record);
  return {
    request_parsing_time: Math.round(record.requestParsingMs),
    pre_processing_time: Math.round(record.preProcessingMs),
    cache_processing_time: Math.round(record.cacheProcessingMs),
    response_parsing_time: Math.round(record.responseParsingMs),
    gateway_processing_time: Math.max(0, Math.round(entryMsOf(record) - upstream)),
    upstream_response_time: Math.round(upstream),
  };
}

/** `config.targets[0].targets[2]` is the target of index 2; without targets there is one. */
function lastIndexOf(optionPath: string): number {
  return Number(/\[(\d+)\]$/.exec(optionPath)?.[1] ?? 0);
}

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'] as const;

function methodOf(method: string): (typeof methods)[number] {
  return methods.find((name) => name === method) ?? 'POST';
}
