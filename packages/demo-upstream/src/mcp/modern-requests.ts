import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../protocol.ts';
import {
  errorAnswer,
  faultOf,
  type Message,
  metaPrefix,
  modernVersion,
  RpcFault,
} from './envelope.ts';
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

/** A tool needs an answer first: the call ends and is made again with it. */
class InputNeeded extends Error {
  readonly request: JsonObject;

  constructor(request: JsonObject) {
    super();
    this.request = request;
  }
}

interface Listener {
  id: string | number;
  stream: EventStream;
  hearsCount: boolean;
}

const listenersMax = 1000;
const cacheable = /^(?:tools|prompts|resources)\/(?:list|templates\/list|read)$|^server\/discover$/;
/** Which parameter the header `Mcp-Name` repeats. */
const named: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** Revision 2026-07-28: every request stands alone. */
export class ModernRequests {
  readonly #count: { value: number; changed: () => void };
  readonly #listeners = new Set<Listener>();
  readonly #stateKey = randomBytes(32);

  constructor(count: { value: number; changed: () => void }) {
    this.#count = count;
  }

  countChanged(): void {
    for (const { id, stream, hearsCount } of this.#listeners) {
      if (!hearsCount) continue;
      const params = { uri: countUri, _meta: { [`${metaPrefix}subscriptionId`]: id } };
      stream.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params });
    }
  }

  close(): void {
    for (const { id, stream } of this.#listeners) {
      const _meta = { [`${metaPrefix}subscriptionId`]: id };
      stream.end({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } });
    }
  }

  async post(message: Message, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, method } = message;
    if (id === undefined || method === undefined) {
      response.writeHead(202).end();
      return;
    }
    const stream = new EventStream(response);
    const running = new AbortController();
    response.once('close', () => running.abort());
    try {
      checkEnvelope(message, request);
      if (method === 'subscriptions/listen') {
        this.#listen({ ...message, id }, stream, response);
        return;
      }
      const result = await this.#resultOf({ ...message, method }, stream, running.signal);
      stream.end({ jsonrpc: '2.0', id, result });
    } catch (error) {
      const fault = faultOf(error);
      if (!running.signal.aborted) stream.end(errorAnswer(id, fault), fault.status);
    }
  }

  async #resultOf(
    message: Message & { method: string },
    stream: EventStream,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { method, params } = message;
    const whole = (result: JsonObject): JsonObject => ({
      resultType: 'complete',
      ...result,
      ...(cacheable.test(method) ? { ttlMs: 0, cacheScope: 'public' } : {}),
      _meta: { [`${metaPrefix}serverInfo`]: serverInfo },
    });
    if (method === 'server/discover')
      return whole({ supportedVersions: [modernVersion], capabilities, instructions });
    if (method === 'tools/call') {
      const answers = this.#answersOf(params);
      try {
        return whole(await callTool(params, this.#callOf(message, stream, signal, answers)));
      } catch (error) {
        if (!(error instanceof InputNeeded)) throw error;
        return whole({
          resultType: 'input_required',
          inputRequests: { answer: error.request },
          requestState: this.#seal(params),
        });
      }
    }
    const answer = lists[method] ?? gets[method];
    if (answer === undefined) throw new RpcFault(-32601, 'Method not found', { status: 404 });
    return whole(answer(params, this.#count.value));
  }

  #callOf(message: Message, stream: EventStream, signal: AbortSignal, answers: JsonObject): Call {
    const { progressToken } = message.meta;
    const level = message.meta[`${metaPrefix}logLevel`];
    const can = message.meta[`${metaPrefix}clientCapabilities`];
    return {
      signal,
      progress(progress, total, text) {
        if (progressToken === undefined) return;
        const params = { progressToken, progress, total, message: text };
        stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params });
      },
      log(wanted, data) {
        if (level !== 'debug' && level !== wanted) return;
        const params = { level: wanted, logger: 'demo', data };
        stream.send({ jsonrpc: '2.0', method: 'notifications/message', params });
      },
      async ask(capability, method, params) {
        if (answers.answer !== undefined) return answers.answer;
        if (!isObject(can) || !isObject(can[capability]))
          throw new RpcFault(-32021, `The client has not said that it has ${capability}`, {
            status: 400,
            data: { requiredCapabilities: { [capability]: {} } },
          });
        throw new InputNeeded({ method, params });
      },
      count: () => {
        this.#count.value++;
        this.#count.changed();
        return this.#count.value;
      },
    };
  }

  #listen(
    message: Message & { id: string | number },
    stream: EventStream,
    response: ServerResponse,
  ) {
    if (this.#listeners.size >= listenersMax)
      throw new RpcFault(-32000, 'Too many listeners', { status: 503 });
    const wanted = isObject(message.params.notifications) ? message.params.notifications : {};
    const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [];
    const hearsCount = uris.includes(countUri);
    const listener = { id: message.id, stream, hearsCount };
    this.#listeners.add(listener);
    response.once('close', () => this.#listeners.delete(listener));
    stream.send({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: hearsCount ? { resourceSubscriptions: [countUri] } : {},
        _meta: { [`${metaPrefix}subscriptionId`]: message.id },
      },
    });
  }

  /** Says which call an answer belongs to; a client cannot make one for another call. */
  #seal(params: JsonObject): string {
    const call = JSON.stringify([params.name, params.arguments ?? {}]);
    const digest = createHash('sha256').update(call).digest();
    return createHmac('sha256', this.#stateKey).update(digest).digest('base64url');
  }

  /** What the client brings with a repeated call. @throws RpcFault when its state is not ours. */
  #answersOf(params: JsonObject): JsonObject {
    const { requestState, inputResponses } = params;
    if (requestState === undefined) return {};
    const given = Buffer.from(String(requestState));
    const own = Buffer.from(this.#seal(params));
    if (given.length !== own.length || !timingSafeEqual(given, own))
      throw new RpcFault(-32602, 'The requestState is not one of this call');
    return isObject(inputResponses) ? inputResponses : {};
  }
}

/** @throws RpcFault when the headers and the body do not say the same, or a version that is not known. */
function checkEnvelope(message: Message, request: IncomingMessage): void {
  const { method, params, meta } = message;
  const version = meta[`${metaPrefix}protocolVersion`];
  const mismatch = (header: string) =>
    new RpcFault(-32020, `The header ${header} is missing or differs from the body`, {
      status: 400,
    });
  if (request.headers['mcp-protocol-version'] !== version) throw mismatch('MCP-Protocol-Version');
  if (version !== modernVersion)
    throw new RpcFault(-32022, 'Unsupported protocol version', {
      status: 400,
      data: { supported: [modernVersion], requested: version },
    });
  if (!isObject(meta[`${metaPrefix}clientCapabilities`]))
    throw new RpcFault(-32602, `_meta lacks ${metaPrefix}clientCapabilities`, { status: 400 });
  if (request.headers['mcp-method'] !== method) throw mismatch('Mcp-Method');
  const name = named[method ?? ''];
  if (name !== undefined && decoded(request.headers['mcp-name']) !== params[name])
    throw mismatch('Mcp-Name');
}

/** A header value, which may be wrapped as `=?base64?…?=`. */
function decoded(value: string | string[] | undefined): string | undefined {
  const [, wrapped] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(String(value)) ?? [];
  return wrapped === undefined ? value?.toString() : Buffer.from(wrapped, 'base64').toString();
}
