import { GatewayError } from '@sluice/errors';
import type { GuardedFetch, GuardedReply } from '@sluice/outbound';
import { refuseCostlyJson } from '../../kernel/http/json-body.ts';
import { isObject } from '../../kernel/http/json-object.ts';

/** The revision we ask for; a server that only knows another says so, and that one is kept to. */
const revision = '2025-11-25';

/** Why a server could not be asked, in words that hold nothing of what it sent. */
export class McpFault extends Error {
  override readonly name = 'McpFault';
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

export interface McpClient {
  /** Begins the session. Returns what the server says of itself. */
  initialize(): Promise<Record<string, unknown>>;
  /** @throws McpFault */
  request(method: string, params?: object): Promise<Record<string, unknown>>;
  /** Ends the session; a server that minds is not listened to. */
  close(): Promise<void>;
}

interface McpClientOptions {
  fetch: GuardedFetch;
  url: string;
  /** Of ours, for the server to know the caller by. */
  headers: Readonly<Record<string, string>>;
  /** For the whole session. */
  timeoutMs: number;
  /** For each reply. */
  bytesMax: number;
}

/**
 * As much of an MCP client as it takes to ask a server what it is: streamable
 * HTTP, one message a request, each reply read to its end, be it JSON or a
 * stream of events.
 */
export function createMcpClient(options: McpClientOptions): McpClient {
  const endsAt = performance.now() + options.timeoutMs;
  const session: Record<string, string> = {};
  let lastId = 0;

  async function send(message: object, method: 'POST' | 'DELETE' = 'POST'): Promise<GuardedReply> {
    const timeoutMs = Math.max(1, Math.round(endsAt - performance.now()));
    try {
      return await options.fetch(options.url, {
        method,
        headers: {
          ...lowerCased(options.headers),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...session,
        },
        ...(method === 'POST' ? { body: JSON.stringify(message) } : {}),
        timeoutMs,
        bytesMax: options.bytesMax,
      });
    } catch (error) {
      throw faultOf(error);
    }
  }

  async function request(method: string, params: object = {}): Promise<Record<string, unknown>> {
    lastId += 1;
    const reply = await send({ jsonrpc: '2.0', id: lastId, method, params });
    if (reply.status < 200 || reply.status > 299)
      throw new McpFault(`The server answered with the status ${reply.status}.`, reply.status);
    const id = reply.headers['mcp-session-id'];
    if (method === 'initialize' && typeof id === 'string') session['mcp-session-id'] = id;
    return resultOf(reply, lastId);
  }

  return {
    request,
    async initialize() {
      const hello = await request('initialize', {
        protocolVersion: revision,
        capabilities: {},
        clientInfo: { name: 'sluice', version: '1' },
      });
      if (typeof hello.protocolVersion !== 'string')
        throw new McpFault('The server names no protocol version.');
      session['mcp-protocol-version'] = hello.protocolVersion;
      await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return hello;
    },
    async close() {
      if (session['mcp-session-id'] === undefined) return;
      // Servers may refuse to end sessions, and forget them by themselves.
      await send({}, 'DELETE').catch(() => undefined);
    },
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** The result of the request with this id, wherever it stands in the reply. */
function resultOf(reply: GuardedReply, id: number): Record<string, unknown> {
  for (const text of messagesOf(reply)) {
    const message = parse(text);
    if (message.id !== id) continue;
    if (isObject(message.result)) return message.result;
    const code = isObject(message.error) ? message.error.code : undefined;
    throw new McpFault(
      Number.isInteger(code)
        ? `The server refused with the error ${code}.`
        : 'The server answered with no result.',
    );
  }
  throw new McpFault('The server did not answer the request.');
}

function messagesOf({ headers, body }: GuardedReply): string[] {
  const text = body.toString('utf8');
  if (!/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) return [text];
  return text
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) =>
      event
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length))
        .join('\n'),
    )
    .filter((data) => data.trim() !== '');
}

function parse(text: string): Record<string, unknown> {
  try {
    refuseCostlyJson(Buffer.from(text));
    const message: unknown = JSON.parse(text);
    if (isObject(message)) return message;
  } catch (error) {
    throw new McpFault('The server answered with something that is no JSON.', undefined, error);
  }
  throw new McpFault('The server answered with something that is no JSON-RPC.');
}

const faults: Partial<Record<GatewayError['code'], string>> = {
  'upstream.timeout': 'The server did not answer in time.',
  'upstream.connect_timeout': 'The server could not be reached in time.',
  'upstream.unreachable': 'The server could not be reached.',
  'upstream.response_too_large': 'The server sent more than is read.',
  'request.invalid_header': 'A header has characters that HTTP forbids.',
};

function faultOf(error: unknown): McpFault {
  if (!(error instanceof GatewayError)) throw error;
  const isRefused = error.code === 'host.invalid' || error.code === 'host.air_gapped';
  const text = isRefused ? error.message : faults[error.code];
  return new McpFault(text ?? 'The connection to the server broke.', undefined, error);
}
