import type { AnswerOf } from '@sluice/contracts/admin';
import type { usage } from '@sluice/proto-stubs';

type Call = NonNullable<AnswerOf<'logs.read'>['call']>;

/** Of a call of an MCP server or of an agent; undefined = it is none. What is not known is left out. */
export function presentCall(record: usage.UsageRecord): Call | undefined {
  if (record.rpcMethod === '') return undefined;
  const told = {
    rpc_id: record.rpcId,
    capability: record.capabilityName,
    tool_error: record.toolError,
    rpc_error_code: record.rpcErrorCode,
    upstream_status: record.upstreamStatus,
    session_id: record.sessionId,
    protocol_version: record.protocolVersion,
    upstream_protocol_version: record.upstreamProtocolVersion,
    transport_client: record.transportClient,
    transport_upstream: record.transportUpstream,
    auth_type: record.authType,
    task_id: record.taskId,
    context_id: record.contextId,
    task_state: record.taskState,
  };
  const known = Object.entries(told).filter(([, value]) => value !== '' && value !== 0);
  return {
    method: record.rpcMethod,
    tool_failed: record.toolFailed,
    upstream_token_refreshed: record.upstreamTokenRefreshed,
    usage_missing: record.usageMissing,
    ...(Object.fromEntries(known) as Partial<typeof told>),
  };
}
