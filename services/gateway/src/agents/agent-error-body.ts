import { errorInfo, rpcCodes, taskNotFound } from '@sluice/a2a';
import { errorBodies, type GatewayError } from '@sluice/errors';
import type { AgentCall, ToldHooks } from '../exchange/subject.ts';

/**
 * A refusal in the words of the caller's protocol: to who speaks JSON-RPC an
 * error with the id of the request, so that clients show it. Undefined = the
 * body that all get.
 */
export function agentErrorBody(
  error: GatewayError,
  { rpcId, pathname, operation, hookResults }: AgentCall,
  requestId: string,
): object | undefined {
  const told = error.code === 'guardrail.denied' ? hookResults : undefined;
  if (rpcId !== undefined)
    return { jsonrpc: '2.0', id: rpcId, error: rpcError(error, requestId, told) };
  if (told !== undefined)
    return { ...errorBodies[operation.errors](error, requestId), hook_results: told };
  if (error.code !== 'agent.task_not_found') return undefined;
  const { code, message, data } = taskNotFound;
  // As servers of each generation say it by REST.
  if (/\/v1\/(?:tasks|message:)/i.test(pathname.slice('/v1/agent'.length)))
    return { code, message };
  return { error: { code: 404, status: 'NOT_FOUND', message, details: data } };
}

/** What 1.0 tells beside the reason: https://protobuf.dev/programming-guides/json, "Any". */
const struct = 'type.googleapis.com/google.protobuf.Struct';

function rpcError(error: GatewayError, requestId: string, told: ToldHooks | undefined) {
  // Exactly as an agent says it: who asks learns nothing from the difference.
  if (error.code === 'agent.task_not_found') return taskNotFound;
  const reason = error.code.replaceAll('.', '_').toUpperCase();
  const metadata = {
    code: error.code,
    request_id: requestId,
    ...(error.field === undefined ? {} : { field: error.field }),
  };
  return {
    code: rpcCodeOf(error),
    message: error.message,
    data: [
      { ...errorInfo(reason, metadata), domain: 'gateway' },
      ...(told === undefined ? [] : [{ '@type': struct, value: { hook_results: told } }]),
    ],
  };
}

/** Of the error that who speaks JSON-RPC is given. */
export function rpcCodeOf({ code }: Pick<GatewayError, 'code'>): number {
  if (code === 'agent.task_not_found') return taskNotFound.code;
  if (code === 'agent.push_not_supported') return rpcCodes.pushNotSupported;
  if (code === 'guardrail.denied') return rpcCodes.refused;
  if (code === 'request.malformed_json') return rpcCodes.parseError;
  if (code === 'request.unsupported_content_type') return rpcCodes.contentType;
  if (code === 'host.invalid' || code === 'host.air_gapped') return rpcCodes.invalidParams;
  return code.startsWith('request.') ? rpcCodes.invalidRequest : rpcCodes.internal;
}
