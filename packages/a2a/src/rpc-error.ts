/** Codes of JSON-RPC and of A2A, the same in both generations. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  invalidParams: -32602,
  internal: -32603,
  /** Of the range that servers may use as they like: as calls of tools are told it. */
  refused: -32000,
  taskNotFound: -32001,
  pushNotSupported: -32003,
  unsupportedOperation: -32004,
  contentType: -32005,
} as const;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  /** 1.0 wants a list of error-info objects, and clients of 0.3 read none. */
  readonly data?: readonly unknown[];
}

/** As 1.0 says why: https://a2a-protocol.org/latest/specification, "error mapping". */
export function errorInfo(reason: string, metadata: Readonly<Record<string, string>> = {}) {
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'a2a-protocol.org',
    metadata,
  };
}

/** The one answer to who names a task that is not theirs: as if there were none. */
export const taskNotFound: RpcError = {
  code: rpcCodes.taskNotFound,
  message: 'Task not found',
  data: [errorInfo('TASK_NOT_FOUND')],
};
