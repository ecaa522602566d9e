import { type AttributeValue, operationNameOf, providerNameOf, useAttributes } from '@sluice/otlp';
import { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';

type Attributes = Record<string, AttributeValue>;

/** What the ledger has of an attempt, as attributes: no text of anybody. */
export function recordAttributes(record: usage.UsageRecord): Attributes {
  return {
    'gen_ai.operation.name': operationNameOf(record.endpoint),
    ...(record.rpcMethod === '' ? modelAttributes(record) : callAttributes(record)),
    'error.type': errorType(record),
    ...useAttributes(record),
    ...costAttributes(record),
    ...tenantAttributes(record),
    ...courseAttributes(record),
    ...Object.fromEntries(
      Object.entries(record.metadata).map(([key, value]) => [`service.metadata.${key}`, value]),
    ),
  };
}

function errorType(record: usage.UsageRecord): string | undefined {
  if (record.outcome !== usage.Outcome.SUCCESS)
    return record.errorCode || String(record.statusCode);
  return record.toolFailed ? 'tool_error' : undefined;
}

function modelAttributes(record: usage.UsageRecord): Attributes {
  const providerName = providerNameOf(record.provider);
  return {
    'gen_ai.provider.name': providerName,
    'gen_ai.system': providerName,
    'gen_ai.request.model': record.model,
    'gen_ai.response.model': record.responseModel,
    'gen_ai.response.finish_reasons':
      record.finishReason === '' ? undefined : [finishReasonOf(record.finishReason)],
    ...(record.stream && {
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': orNone(record.timeToFirstByteMs / 1000),
    }),
  };
}

/** Of a call of an MCP server or of an agent. */
function callAttributes(record: usage.UsageRecord): Attributes {
  return {
    ...(record.provider === 'agent' ? agentAttributes(record) : mcpAttributes(record)),
    'jsonrpc.request.id': record.rpcId,
    'rpc.response.status_code': record.rpcErrorCode === 0 ? '' : String(record.rpcErrorCode),
    'service.call.mode': record.endpoint,
    'service.call.upstream_status': orNone(record.upstreamStatus),
    'service.call.transport_client': record.transportClient,
    'service.call.transport_upstream': record.transportUpstream,
    'service.call.auth_type': record.authType,
    'service.call.upstream_token_refreshed': record.upstreamTokenRefreshed || undefined,
    'service.usage.is_missing': record.usageMissing || undefined,
  };
}

function mcpAttributes(record: usage.UsageRecord): Attributes {
  const named = (mode: string) => (record.endpoint === mode ? record.capabilityName : '');
  return {
    'mcp.server.id': record.model,
    'mcp.server.slug': record.providerSlug,
    'mcp.method.name': record.rpcMethod,
    'mcp.session.id': record.sessionId,
    'mcp.protocol.version': record.protocolVersion,
    'gen_ai.tool.name': named('mcp:tool_call'),
    'gen_ai.prompt.name': named('mcp:prompt_get'),
    'mcp.resource.uri': named('mcp:resource_read'),
    'mcp.tool.failed': record.endpoint === 'mcp:tool_call' ? record.toolFailed : undefined,
  };
}

function agentAttributes(record: usage.UsageRecord): Attributes {
  return {
    'gen_ai.agent.id': record.model,
    'gen_ai.agent.name': record.providerSlug,
    'gen_ai.conversation.id': record.contextId,
    'a2a.method.name': record.rpcMethod,
    'a2a.protocol.version': record.protocolVersion,
    'a2a.task.id': record.taskId,
    'a2a.task.state': record.taskState,
  };
}

function costAttributes(record: usage.UsageRecord): Attributes {
  return {
    'openai.response.service_tier': record.serviceTier,
    'service.served_region': record.servedRegion,
    ...(record.costKnown && {
      'service.cost.nano_usd': record.costNanoUsd,
      'service.cost.price_layer': record.priceLayer,
      'service.cost.unpriced_units': record.unpricedUnits,
    }),
  };
}

function tenantAttributes(record: usage.UsageRecord): Attributes {
  return {
    'service.organisation.id': record.organisationId,
    'service.workspace.id': record.workspaceId,
    'service.workspace.slug': record.workspaceSlug,
    'service.api_key.id': record.apiKeyId,
    'service.user.id': record.userId,
  };
}

/** How the request got there, and what it took. */
function courseAttributes(record: usage.UsageRecord): Attributes {
  return {
    'http.request.method': record.method,
    'url.path': record.requestUrl,
    'http.response.status_code': orNone(record.statusCode),
    'service.request.id': uuidText(record.requestId),
    'service.record.id': uuidText(record.id),
    'service.trace.id': record.traceId,
    'service.span.name': record.spanName,
    'service.source': record.source,
    'service.provider': record.provider,
    'service.provider.slug': record.providerSlug,
    'service.outcome': usage.Outcome[record.outcome]?.toLowerCase(),
    'service.failure_cause': record.failureCause,
    'service.attempt': orNone(record.attempt),
    'service.retry_count': orNone(record.retryCount),
    'service.strategy': record.strategyMode,
    'service.option_path': record.optionPath,
    'service.config.slug': record.configSlug,
    'service.prompt.slug': record.promptSlug,
    'service.cache_status': record.cacheStatus.toLowerCase(),
    'service.latency_ms': record.latencyMs,
    'service.gateway_ms': record.gatewayMs,
  };
}

function orNone<Count extends number | bigint>(count: Count): Count | undefined {
  return Number(count) === 0 ? undefined : count;
}

/** All ways to say that a tool is to be called are one. */
function finishReasonOf(reason: string): string {
  return toolReasons.has(reason) ? 'tool_call' : reason;
}

const toolReasons: ReadonlySet<string> = new Set([
  'tool-calls',
  'tool_calls',
  'tool_use',
  'function_call',
  'TOOL_CALL',
]);
