/** Codes of JSON-RPC and MCP. −32020 to −32099 belong to the specification: none of ours is made up there. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Free use; of ours: log-in needed, rate limits. */
  refused: -32000,
  /** As the SDKs use it: a session that is not known, a request that took too long. */
  sessionNotFound: -32001,
  requestTimeout: -32001,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
  urlElicitationRequired: -32042,
} as const;

export interface FaultInit {
  /** HTTP status of the answer. */
  status: number;
  code: number;
  message: string;
  data?: unknown;
  /** JSON text of the id of the request that is answered, where it could be read. */
  idText?: string;
}

/** What a caller is told in place of a result. The message is fit for whoever sent the message. */
export class McpFault extends Error {
  readonly status: number;
  readonly code: number;
  readonly data: unknown;
  readonly idText: string | undefined;

  constructor({ status, code, message, data, idText }: FaultInit) {
    super(message);
    this.name = 'McpFault';
    this.status = status;
    this.code = code;
    this.data = data;
    this.idText = idText;
  }
}

/** The error message that tells of a fault. @param idText of the request; of a message whose id is not known null is told */
export function faultReply(
  { code, message, data, idText: known }: McpFault,
  idText = known ?? 'null',
): Buffer {
  return errorReply(idText, { code, message, data });
}

/** A JSON-RPC error. @param idText JSON text, as the request had it */
export function errorReply(
  idText: string,
  error: { code: number; message: string; data?: unknown },
): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(error)}}`);
}

/** A JSON-RPC result. @param idText JSON text, as the request had it */
export function resultReply(idText: string, result: object): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":${JSON.stringify(result)}}`);
}
