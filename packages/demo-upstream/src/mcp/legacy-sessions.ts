import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../protocol.ts';
import { errorAnswer, faultOf, legacyVersions, type Message, RpcFault } from './envelope.ts';
import { EventStream } from './event-stream.ts';
import {
  type Call,
  callTool,
  capabilities,
  countUri,
  gets,
  instructions,
  lists,
  serverInfo,
} from './features.ts';

interface Session {
  readonly id: string;
  readonly clientCapabilities: JsonObject;
  readonly subscriptions: Set<string>;
  /** Of requests under way. */
  readonly running: Map<string | number, AbortController>;
  /** Requests of ours that the client has not answered. */
  readonly asked: Map<string, (answer: Message) => void>;
  isDebug: boolean;
  /** What belongs to no request goes here. */
  stream: EventStream | undefined;
}

const sessionsMax = 1000;

/** Sessions of the revisions up to 2025-11-25, in memory. */
export class LegacySessions {
  readonly #sessions = new Map<string, Session>();
  readonly #count: { value: number; changed: () => void };

  constructor(count: { value: number; changed: () => void }) {
    this.#count = count;
  }

  /** Tells who subscribed. */
  countChanged(): void {
    const params = { uri: countUri };
    for (const session of this.#sessions.values())
      if (session.subscriptions.has(countUri))
        session.stream?.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params });
  }

  close(): void {
    for (const session of this.#sessions.values()) this.#end(session);
  }

  /** @throws RpcFault */
  listen(request: IncomingMessage, response: ServerResponse): void {
    const session = this.#of(request);
    if (session.stream?.isOpen === true)
      throw new RpcFault(-32000, 'This session has a stream already', { status: 409 });
    const stream = new EventStream(response);
    session.stream = stream;
    stream.open({ 'mcp-session-id': session.id });
  }

  /** @throws RpcFault */
  delete(request: IncomingMessage, response: ServerResponse): void {
    this.#end(this.#of(request));
    response.writeHead(204).end();
  }

  /** @throws RpcFault */
  async post(message: Message, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, id } = message;
    if (method === 'initialize' && id !== undefined) {
      const session = this.#begin(message);
      response.setHeader('mcp-session-id', session.id);
      const asked = message.params.protocolVersion as (typeof legacyVersions)[number];
      const protocolVersion = legacyVersions.includes(asked) ? asked : legacyVersions[0];
      const result = {
        protocolVersion,
        capabilities: { ...capabilities, logging: {} },
        serverInfo,
        instructions,
      };
      new EventStream(response).end({ jsonrpc: '2.0', id, result });
      return;
    }
    const session = this.#of(request);
    if (method === undefined || id === undefined) {
      this.#take(session, message);
      response.writeHead(202).end();
      return;
    }
    await this.#answer(session, { ...message, method, id }, new EventStream(response));
  }

  async #answer(
    session: Session,
    message: Message & { id: string | number; method: string },
    stream: EventStream,
  ): Promise<void> {
    const { id, method } = message;
    const running = new AbortController();
    session.running.set(id, running);
    try {
      const result = await this.#resultOf(session, message, stream, running.signal);
      stream.end({ jsonrpc: '2.0', id, result });
    } catch (error) {
      // What was cancelled is not answered.
      if (running.signal.aborted) stream.close();
      else stream.end(errorAnswer(id, legacyFault(method, faultOf(error))));
    } finally {
      session.running.delete(id);
    }
  }

  async #resultOf(
    session: Session,
    message: Message & { id: string | number; method: string },
    stream: EventStream,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { method, params } = message;
    if (method === 'ping') return {};
    if (method === 'logging/setLevel') {
      session.isDebug = params.level === 'debug' || params.level === 'info';
      return {};
    }
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
      if (params.uri !== countUri) throw new RpcFault(-32002, 'Resource not found');
      if (method === 'resources/subscribe') session.subscriptions.add(countUri);
      else session.subscriptions.delete(countUri);
      return {};
    }
    if (method === 'tools/call')
      return callTool(params, this.#callOf(session, message, stream, signal));
    const answer = lists[method] ?? gets[method];
    if (answer === undefined) throw new RpcFault(-32601, 'Method not found');
    return answer(params, this.#count.value);
  }

  #callOf(session: Session, message: Message, stream: EventStream, signal: AbortSignal): Call {
    const progressToken = message.meta.progressToken;
    const asked = session.asked;
    return {
      signal,
      progress(progress, total, text) {
        if (progressToken === undefined) return;
        const params = { progressToken, progress, total, message: text };
        stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params });
      },
      log(level, data) {
        if (!session.isDebug) return;
        const params = { level, logger: 'demo', data };
        stream.send({ jsonrpc: '2.0', method: 'notifications/message', params });
      },
      ask(capability, method, params) {
        if (!isObject(session.clientCapabilities[capability]))
          throw new RpcFault(-32601, `The client has no ${capability}`);
        const id = randomUUID();
        return new Promise((resolve, reject) => {
          const giveUp = () => {
            asked.delete(id);
            reject(signal.reason);
          };
          signal.addEventListener('abort', giveUp, { once: true });
          asked.set(id, (answer) => {
            asked.delete(id);
            if (answer.error === undefined) resolve(answer.result);
            else
              reject(new RpcFault(-32603, `The client refused: ${JSON.stringify(answer.error)}`));
          });
          stream.send({ jsonrpc: '2.0', id, method, params });
        });
      },
      count: () => {
        this.#count.value++;
        this.#count.changed();
        return this.#count.value;
      },
    };
  }

  /** Notifications and answers of the client. */
  #take(session: Session, message: Message): void {
    if (message.method === undefined) {
      session.asked.get(String(message.id))?.(message);
      return;
    }
    if (message.method === 'notifications/cancelled')
      session.running.get(message.params.requestId as string | number)?.abort();
  }

  #begin(message: Message): Session {
    const [oldest] = this.#sessions.values();
    if (this.#sessions.size >= sessionsMax && oldest !== undefined) this.#end(oldest);
    const given = message.params.capabilities;
    const session: Session = {
      id: randomUUID(),
      clientCapabilities: isObject(given) ? given : {},
      subscriptions: new Set(),
      running: new Map(),
      asked: new Map(),
      isDebug: true,
      stream: undefined,
    };
    this.#sessions.set(session.id, session);
    return session;
  }

  #end(session: Session): void {
    this.#sessions.delete(session.id);
    for (const running of session.running.values()) running.abort();
    session.stream?.close();
  }

  #of(request: IncomingMessage): Session {
    const version = request.headers['mcp-protocol-version'] ?? '2025-03-26';
    if (!(legacyVersions as readonly string[]).includes(String(version)))
      throw new RpcFault(-32000, `Unsupported protocol version: ${String(version)}`, {
        status: 400,
      });
    const id = request.headers['mcp-session-id'];
    if (id === undefined)
      throw new RpcFault(-32000, 'The header Mcp-Session-Id is missing', { status: 400 });
    const session = this.#sessions.get(String(id));
    if (session === undefined) throw new RpcFault(-32001, 'Session not found', { status: 404 });
    return session;
  }
}

/** A missing resource had a code of its own before 2026-07-28. */
function legacyFault(method: string, fault: RpcFault): RpcFault {
  if (method !== 'resources/read' || fault.code !== -32602) return fault;
  return new RpcFault(-32002, fault.message, { data: fault.data });
}
