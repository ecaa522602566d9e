import type { IncomingMessage, ServerResponse } from 'node:http';
import { VendorFault } from '../protocol.ts';
import {
  errorAnswer,
  faultOf,
  type Message,
  metaPrefix,
  modernVersion,
  RpcFault,
  readMessage,
} from './envelope.ts';
import { LegacySessions } from './legacy-sessions.ts';
import { ModernRequests } from './modern-requests.ts';

export const mcpPath = '/mcp';

/** A demo MCP server on one path, for clients of both eras. */
export interface McpServer {
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    readText: () => Promise<string>,
  ): Promise<void>;
  /** Ends every stream. */
  close(): void;
}

export function createMcpServer(): McpServer {
  const count = {
    value: 0,
    changed() {
      legacy.countChanged();
      modern.countChanged();
    },
  };
  const legacy = new LegacySessions(count);
  const modern = new ModernRequests(count);

  async function respond(
    request: IncomingMessage,
    response: ServerResponse,
    readText: () => Promise<string>,
  ): Promise<void> {
    const { method, headers } = request;
    const isModern = headers['mcp-protocol-version'] === modernVersion;
    if (!isModern && method === 'GET') return legacy.listen(request, response);
    if (!isModern && method === 'DELETE') return legacy.delete(request, response);
    if (method !== 'POST') {
      response.setHeader('allow', isModern ? 'POST' : 'GET, POST, DELETE');
      throw new RpcFault(-32000, 'Method not allowed', { status: 405 });
    }
    checkHeaders(request);
    const message = readMessage(await readText());
    return isModernMessage(message, isModern)
      ? modern.post(message, request, response)
      : legacy.post(message, request, response);
  }

  return {
    async answer(request, response, readText) {
      try {
        checkOrigin(request);
        await respond(request, response, readText);
      } catch (error) {
        if (response.headersSent) {
          response.destroy();
          return;
        }
        request.resume();
        const fault =
          error instanceof VendorFault
            ? new RpcFault(-32600, error.message, { status: error.status })
            : faultOf(error);
        const status = fault.status === 200 ? 400 : fault.status;
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(errorAnswer(undefined, fault)));
      }
    },
    close() {
      legacy.close();
      modern.close();
    },
  };
}

/** `initialize` is of the old era whatever the headers say. */
function isModernMessage(message: Message, hasModernHeader: boolean): boolean {
  if (message.method === 'initialize') return false;
  return hasModernHeader || message.meta[`${metaPrefix}protocolVersion`] !== undefined;
}

/** @throws RpcFault */
function checkHeaders(request: IncomingMessage): void {
  const { accept = '', 'content-type': contentType = '' } = request.headers;
  if (!accept.includes('application/json') || !accept.includes('text/event-stream'))
    throw new RpcFault(-32000, 'Accept must list application/json and text/event-stream', {
      status: 406,
    });
  if (!/^application\/json\b/i.test(contentType))
    throw new RpcFault(-32000, 'Content-Type must be application/json', { status: 415 });
}

/** Keeps pages of other sites away from a server on this machine. @throws RpcFault */
function checkOrigin(request: IncomingMessage): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  const { hostname } = URL.canParse(origin) ? new URL(origin) : { hostname: '' };
  if (!['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    throw new RpcFault(-32000, 'This origin is not allowed', { status: 403 });
}
