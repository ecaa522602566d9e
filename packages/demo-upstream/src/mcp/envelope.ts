import { isObject, type JsonObject } from '../protocol.ts';

/** Revisions with sessions, newest first; the last two are of servers that still answer old clients. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Without sessions: every request says who asks and what it can. */
export const modernVersion = '2026-07-28';

export const metaPrefix = 'io.modelcontextprotocol/';

/** One JSON-RPC message; a request has an id and a method, an answer an id alone. */
export interface Message {
  id: string | number | undefined;
  method: string | undefined;
  params: JsonObject;
  meta: JsonObject;
  result: unknown;
  error: unknown;
}

/** A refusal as JSON-RPC and HTTP say it. */
export class RpcFault extends Error {
  readonly status: number;
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, detail: { status?: number; data?: unknown } = {}) {
    super(message);
    this.code = code;
    this.status = detail.status ?? 200;
    this.data = detail.data;
  }
}

/** @throws RpcFault for what is no single JSON-RPC message. */
export function readMessage(text: string): Message {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new RpcFault(-32700, 'Parse error', { status: 400 });
  }
  if (!isObject(body) || body.jsonrpc !== '2.0')
    throw new RpcFault(-32600, 'One JSON-RPC 2.0 message is expected', { status: 400 });
  const { id, method } = body;
  const params = isObject(body.params) ? body.params : {};
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : undefined,
    method: typeof method === 'string' ? method : undefined,
    params,
    meta: isObject(params._meta) ? params._meta : {},
    result: body.result,
    error: body.error,
  };
}

export function errorAnswer(id: Message['id'], fault: RpcFault): JsonObject {
  const { code, message, data } = fault;
  return {
    jsonrpc: '2.0',
    id: id ?? null,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  };
}

export function faultOf(error: unknown): RpcFault {
  return error instanceof RpcFault ? error : new RpcFault(-32603, 'Internal error');
}
