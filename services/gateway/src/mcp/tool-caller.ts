import { hash, randomUUID } from 'node:crypto';
import { type JsonObject, operations } from '@sluice/contracts';
import { fromUnknown, GatewayError } from '@sluice/errors';
import {
  isObject,
  McpFault,
  type McpRequest,
  metaKeys,
  modernVersions,
  paramHeadersFor,
  readMessage,
  readParamHeaders,
  rpcCodes,
} from '@sluice/mcp';
import { RecentMap } from '../chain/recent-map.ts';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import { type Exchange, openExchange } from '../exchange/exchange.ts';
import type { ToolCall } from '../exchange/subject.ts';
import { abortReason } from '../http/caller-gone.ts';
import { checkKey } from '../pipeline/stages/authenticate.ts';
import { CapturedReply } from './captured-reply.ts';
import { recordAtDoor } from './door-record.ts';
import { AccessFault, type EnterParts, entered, enterServer } from './enter-server.ts';
import { ownName } from './eras.ts';
import type { EventRecorder } from './event-recorder.ts';
import { ToolDenial } from './guards/tool-denial.ts';
import type { McpCall } from './mcp-call.ts';
import type { ServedServer } from './served-server.ts';
import { sentHeaders } from './upstream-headers.ts';
import { UserTokenFault } from './user-tokens.ts';

export interface ToolCallerDeps extends EnterParts {
  /** Gives an exchange the key and the workspace that hold by now. @throws GatewayError where the caller may nothing any more */
  readonly letInAgain: (exchange: Exchange) => void | Promise<void>;
  readonly serverOf: (call: McpCall) => ServedServer;
  readonly recorder: Pick<EventRecorder, 'refuse'>;
  /** The origin that browsers reach gateways at, where it is set. */
  readonly base: string | undefined;
  /** Hears of faults of ours. */
  readonly onFault: (error: unknown) => void;
}

/** A tool as this caller may see it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject | undefined;
}

/** What a call of a tool came to. */
export type ToolOutcome =
  /** As the server said it; `isError` is among its members. */
  | { readonly kind: 'result'; readonly result: JsonObject }
  /** There is no result: JSON-RPC's code, or HTTP's status where the server was not reached or the gateway refused. */
  | {
      readonly kind: 'fault';
      readonly by: 'protocol' | 'http';
      readonly code: number;
      readonly message: string;
    };

/** A server that this caller may call, as who they are. */
export interface ToolServer {
  readonly slug: string;
  /** As it was entered: whether the caller may still is asked before each call. */
  readonly call: McpCall;
  readonly address: ServerAddress;
  /** Tells apart whoever a server may tell apart. */
  readonly identity: string;
}

export interface ServerAddress {
  readonly server: string;
  readonly workspace?: string | undefined;
}

const [version = ''] = modernVersions;
/** What a server lists is asked for again after so long; what is denied is denied at once, in the call. */
const listedMs = 30_000;
const listsMax = 200;
const pagesMax = 50;
/** Of one server; whoever needs more of them names those that are needed. */
const listedToolsMax = 1_000;

/**
 * Lists and calls tools for somebody who asks a model: through the doors, limits, guardrails and records that clients of
 * the server's own address pass, over sessions that the gateway has. Nobody can be asked anything on the way.
 */
export class ToolCaller {
  readonly #deps: ToolCallerDeps;
  readonly #lists = new RecentMap<{
    readonly tools: Promise<readonly ListedTool[]>;
    readonly at: number;
  }>(listsMax);

  constructor(deps: ToolCallerDeps) {
    this.#deps = deps;
  }

  /** @throws GatewayError 400, 403, 503 where this caller may not use it */
  async enter(asking: Exchange, address: ServerAddress, signal: AbortSignal): Promise<ToolServer> {
    const exchange = toolExchange(asking, address.server, signal);
    const { key } = exchange;
    if (key === undefined) throw new Error('nobody was let in');
    checkKey(exchange, key);
    const call = await this.#enter(exchange, address, signal);
    return { slug: call.server.source.slug, call, address, identity: identityOf(call) };
  }

  /** @param tool whose call this is, which leaves a record where it is refused; undefined = the request's own does @throws GatewayError */
  async #enter(
    exchange: ToolExchange,
    address: ServerAddress,
    signal: AbortSignal,
    tool?: string,
  ): Promise<McpCall> {
    const reply = new CapturedReply(signal);
    const { base } = this.#deps;
    const entering = { address, base, exchange, identity: undefined, reply, signal };
    try {
      return await enterServer(entering, this.#deps);
    } catch (error) {
      if (tool !== undefined) {
        const asked = { server: address.server, method: 'tools/call', capability: tool };
        await recordAtDoor(error, asked, exchange, this.#deps.recorder);
      }
      throw refusal(error, address.server);
    }
  }

  /** Minutes may have passed since it was entered: what was closed, switched off or limited since then is. @throws GatewayError */
  async #enterAgain(
    { call, slug, address }: ToolServer,
    tool: string,
    signal: AbortSignal,
  ): Promise<McpCall> {
    const exchange = toolExchange(call.exchange, slug, signal);
    await this.#deps.letInAgain(exchange);
    return this.#enter(exchange, address, signal, tool);
  }

  /** Why this caller may not use a server, as far as that can be told without asking anybody; undefined = they may. */
  judge(asking: Exchange, address: ServerAddress): GatewayError | undefined {
    const { signal } = asking.arrival;
    const exchange = toolExchange(asking, address.server, signal);
    const { key } = exchange;
    if (key === undefined) throw new Error('nobody was let in');
    const reply = new CapturedReply(signal);
    try {
      checkKey(exchange, key);
      entered(
        { address, base: undefined, exchange, identity: undefined, reply, signal },
        this.#deps.access,
      );
      return undefined;
    } catch (error) {
      return fromUnknown(refusal(error, address.server));
    }
  }

  /** All that the caller may see. @throws GatewayError `tools.not_listed` */
  list(server: ToolServer): Promise<readonly ListedTool[]> {
    const known = this.#lists.use(server.identity);
    if (known !== undefined && performance.now() - known.at < listedMs) return known.tools;
    const tools = this.#list(server);
    this.#lists.set(server.identity, { tools, at: performance.now() });
    tools.catch(() => {
      // Others may have better luck.
      if (this.#lists.use(server.identity)?.tools === tools)
        this.#lists.set(server.identity, { tools, at: Number.NEGATIVE_INFINITY });
    });
    return tools;
  }

  /** Never throws but when nobody waits for it any more. @throws GatewayError `request.aborted`, `gateway.draining` */
  async callTool(
    server: ToolServer,
    tool: ListedTool,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const marks = readParamHeaders(tool.inputSchema).headers ?? [];
    try {
      const result = await this.#ask(
        await this.#enterAgain(server, tool.name, signal),
        'tools/call',
        { name: tool.name, arguments: args },
        signal,
        paramHeadersFor(marks, args),
      );
      if (result.resultType === 'input_required')
        return fault(
          'protocol',
          rpcCodes.invalidRequest,
          'The tool asks the caller something, and nobody can answer here.',
        );
      return { kind: 'result', result };
    } catch (error) {
      // At the drain's deadline there is somebody to be told, in other words.
      if (signal.aborted) throw abortReason(signal);
      return this.#outcomeOf(error);
    }
  }

  #outcomeOf(error: unknown): ToolOutcome {
    if (error instanceof ToolDenial) {
      const message = readMessage(error.answer);
      if (message.kind === 'response') return { kind: 'result', result: message.result };
    }
    if (error instanceof McpFault) {
      const { upstream_status: status } = (error.data ?? {}) as { upstream_status?: unknown };
      if (typeof status === 'number') return fault('http', status, error.message);
      return fault('protocol', error.code, error.message);
    }
    const known = fromUnknown(error);
    if (known.code === 'request.aborted') throw known;
    if (known.code === 'internal') this.#deps.onFault(known.cause ?? known);
    return fault('http', known.status, known.message);
  }

  async #list(server: ToolServer): Promise<readonly ListedTool[]> {
    // A name is offered to the model once, on however many pages it stands.
    const tools = new Map<string, ListedTool>();
    let cursor: string | undefined;
    // Others wait for it, too: who began it may leave.
    const signal = AbortSignal.timeout(120_000);
    try {
      for (let page = 0; page < pagesMax && tools.size < listedToolsMax; page += 1) {
        const params: JsonObject = cursor === undefined ? {} : { cursor };
        const result = await this.#ask(server.call, 'tools/list', params, signal);
        for (const tool of Array.isArray(result.tools) ? result.tools : []) {
          const read = isObject(tool) ? listedTool(tool) : undefined;
          if (read !== undefined && !tools.has(read.name)) tools.set(read.name, read);
        }
        if (typeof result.nextCursor !== 'string') break;
        cursor = result.nextCursor;
      }
    } catch (error) {
      const { message } = error instanceof McpFault ? error : fromUnknown(error);
      throw new GatewayError('tools.not_listed', {
        message: `The tools of the MCP server "${server.slug}" could not be listed: ${message}`,
        cause: error,
      });
    }
    return [...tools.values()];
  }

  /** @throws McpFault, GatewayError */
  async #ask(
    entered: McpCall,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<JsonObject> {
    const reply = new CapturedReply(signal);
    const { slug } = entered.server.source;
    const exchange = toolExchange(entered.exchange, slug, signal, headers);
    const call: McpCall = { ...entered, exchange, reply, signal };
    const asked = request(method, { ...params, _meta: meta });
    await this.#deps.serverOf(call).modern(call, asked, version);
    if (signal.aborted) throw new GatewayError('request.aborted');
    return resultOf(reply);
  }
}

const meta: JsonObject = {
  [metaKeys.protocolVersion]: version,
  // Nobody is there to be asked.
  [metaKeys.clientCapabilities]: {},
  [metaKeys.clientInfo]: { ...ownName },
};

function request(method: string, params: JsonObject): McpRequest {
  const message = { jsonrpc: '2.0', id: `sluice-${randomUUID()}`, method, params };
  return readMessage(Buffer.from(JSON.stringify(message))) as McpRequest;
}

type ToolExchange = Exchange & { subject: ToolCall };

/** A request to the server, beside the one that asked the model: of the same trace, with a beginning of its own. */
function toolExchange(
  { arrival, key, bundle, metadata }: Exchange,
  slug: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): ToolExchange {
  const own: ArrivedRequest = {
    ...arrival,
    headers: { ...withoutProtocol(arrival.headers), ...headers },
    method: 'POST',
    startedAt: performance.now(),
    startedAtMs: Date.now(),
    signal,
  };
  const subject: ToolCall = {
    kind: 'tool-call',
    operation: operations.mcpMessage,
    pathname: `/${slug}/mcp`,
    search: '',
  };
  return Object.assign(openExchange(own, subject), { key, bundle, metadata });
}

/** What a caller of a model says of MCP's transport means nothing to a server. */
function withoutProtocol(headers: ArrivedRequest['headers']): ArrivedRequest['headers'] {
  const kept: ArrivedRequest['headers'] = {};
  for (const name in headers) if (!name.startsWith('mcp-')) kept[name] = headers[name];
  return kept;
}

/** With the headers that are forwarded: a server may list other tools to others. */
function identityOf(call: McpCall): string {
  const { principal, key, server, exchange, told } = call;
  const sent = sentHeaders(server, exchange.arrival.headers, told);
  const { id, signInMark } = key.source;
  const parts = [principal, id, signInMark, server.version, exchange.metadata, sent];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

function listedTool(tool: JsonObject): ListedTool | undefined {
  const { name, description, inputSchema, annotations } = tool;
  if (typeof name !== 'string' || name === '') return undefined;
  return {
    name,
    description: typeof description === 'string' ? description : undefined,
    inputSchema: isObject(inputSchema) ? inputSchema : { type: 'object', properties: {} },
    annotations: isObject(annotations) ? annotations : undefined,
  };
}

/** @throws McpFault where the answer is an error, or there is none */
function resultOf({ answer }: CapturedReply): JsonObject {
  if (answer?.kind === 'response') return answer.result;
  const { code, message, data } = answer?.error ?? {
    code: rpcCodes.internalError,
    message: 'The MCP server gave no answer.',
  };
  throw new McpFault({ status: 200, code, message, data });
}

function fault(by: 'protocol' | 'http', code: number, message: string): ToolOutcome {
  return { kind: 'fault', by, code, message };
}

/** In the words of a request for a model. */
function refusal(error: unknown, slug: string): unknown {
  if (error instanceof AccessFault)
    return new GatewayError(error.status === 404 ? 'tools.unknown_server' : 'tools.denied', {
      status: error.status === 404 ? 400 : error.status,
      message: `MCP server "${slug.slice(0, 80)}": ${error.message}`,
    });
  if (error instanceof UserTokenFault)
    return new GatewayError('tools.denied', {
      message: `MCP server "${slug.slice(0, 80)}": ${error.message}`,
    });
  return error;
}
