import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HeaderSpelling, mcpChallenge, operations, spellingOf } from '@sluice/contracts';
import { fromUnknown, type GatewayError } from '@sluice/errors';
import {
  checkEra,
  checkPostHeaders,
  checkStreamHeaders,
  errorReply,
  isModernVersion,
  legacyVersions,
  McpFault,
  type McpNotification,
  type McpRequest,
  readMessage,
  rpcCodes,
  type Sealer,
} from '@sluice/mcp';
import { type Exchange, openExchange } from '../exchange/exchange.ts';
import type { ReplyHeaders } from '../exchange/reply.ts';
import type { ToolCall } from '../exchange/subject.ts';
import { expectRest } from '../http/discard-rest.ts';
import { headerText } from '../routes/error-reply.ts';
import { openArrival } from '../routes/open-arrival.ts';
import { observe, type ServeDeps } from '../routes/serve.ts';
import type { McpAddress } from './address.ts';
import type { AuthenticateCaller } from './authenticate-caller.ts';
import { CallerReply } from './caller-reply.ts';
import { doorRefusal, recordAtDoor } from './door-record.ts';
import { AccessFault, type EnterParts, enterServer } from './enter-server.ts';
import type { EventRecorder } from './event-recorder.ts';
import { ToolDenial } from './guards/tool-denial.ts';
import type { Issuers } from './issuers.ts';
import type { McpCall } from './mcp-call.ts';
import { rightOf, scopeFor } from './method-right.ts';
import { judgeOrigin, type OriginSettings, pageHeaders, preflightHeaders } from './origin.ts';
import type { ServedServer } from './served-server.ts';
import type { Sessions } from './sessions.ts';
import { clientOf, SignInNeeded, tellLegacy, tellModern, withoutSignIn } from './sign-in-needed.ts';
import { withTraceOf } from './trace-of-message.ts';
import { UserTokenFault } from './user-tokens.ts';

export interface McpDeps extends ServeDeps, EnterParts {
  readonly authenticate: AuthenticateCaller;
  readonly issuers: Pick<Issuers, 'scopeAt'>;
  readonly origins: Omit<OriginSettings, 'readArrival'>;
  readonly sessions: Sessions;
  readonly serverOf: (call: McpCall) => ServedServer;
  readonly sealer: Sealer;
  readonly recorder: Pick<EventRecorder, 'refuse'>;
}

export type ServeMcp = (req: IncomingMessage, res: ServerResponse, address: McpAddress) => void;

const operationOf = {
  POST: operations.mcpMessage,
  GET: operations.mcpStream,
  DELETE: operations.mcpEnd,
} as const;

const allowed = 'POST, GET, DELETE';
const messageBytesMax = 4 * 1024 * 1024;

/** The one place where requests of MCP clients become answers, and faults what those clients act on. */
export function serveMcp(shared: McpDeps): ServeMcp {
  const deps = { ...shared, bodyBytesMax: { json: messageBytesMax, form: 0 } };
  const origins = { ...deps.origins, readArrival: deps.readArrival };
  const isOurs = (name: string) =>
    deps.headerPrefixes.all.some((prefix) => name.startsWith(prefix));
  return (req, res, address) => {
    const spelling = spellingOf(deps.headerPrefixes, req.headers);
    const origin = judgeOrigin(req, origins);
    const reply = new CallerReply({
      res,
      prefixes: deps.headerPrefixes,
      spelling,
      headers: {
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        ...pageHeaders(origin.page),
      },
    });
    if (origin.refused !== undefined) {
      expectRest(req, res);
      reply.body(403, oauthError('forbidden', origin.refused));
      return;
    }
    if (req.method === 'OPTIONS') {
      const asked = req.headers['access-control-request-headers'];
      if (origin.page === undefined) reply.empty(204, { allow: allowed });
      else reply.empty(204, preflightHeaders(origin.page, asked, isOurs));
      return;
    }
    const operation = operationOf[req.method as keyof typeof operationOf];
    if (operation === undefined) {
      expectRest(req, res);
      reply.body(405, oauthError('method_not_allowed', 'POST, GET and DELETE are.'), {
        allow: allowed,
      });
      return;
    }
    run({ req, res, address, spelling, operation, base: origin.base, reply }, deps);
  };
}

interface Served {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly address: McpAddress;
  readonly spelling: HeaderSpelling;
  readonly operation: (typeof operationOf)[keyof typeof operationOf];
  readonly base: string | undefined;
  readonly reply: CallerReply;
  /** What who is refused logs in for, where that is not for us to say. */
  scope?: string | undefined;
}

function run(served: Served, deps: McpDeps): void {
  const { req, res, operation, address } = served;
  const abort = new AbortController();
  const owner = () => exchange.key?.source.workspaceId ?? '';
  const arrival = openArrival(req, res, deps, { abort, owner });
  const exchange: Exchange & { subject: ToolCall } = openExchange(arrival, {
    kind: 'tool-call',
    operation,
    pathname: address.path,
    search: '',
  });
  served.reply.add({
    'x-service-request-id': arrival.requestIdText,
    'x-service-trace-id': headerText(arrival.traceId),
    ...(deps.isDraining() ? { connection: 'close' } : {}),
  });
  let errorCode = '';
  res.once('close', () => {
    const status = served.reply.isOver && res.writableFinished ? served.reply.status : 499;
    const { metrics, requestLog } = deps;
    observe(exchange, status, errorCode, { metrics, requestLog, name: operation.id });
  });
  answer(served, exchange, deps, abort.signal)
    .catch(async (caught: unknown) => {
      abort.abort();
      errorCode = codeOf(caught);
      const asked = { server: address.server, method: req.method ?? '' };
      await recordAtDoor(caught, asked, exchange, deps.recorder);
      tellFault(caught, served, exchange, deps);
    })
    .catch((fault: unknown) => {
      deps.logger.error({ err: fault, request_id: arrival.requestIdText }, 'no answer was sent');
      res.destroy();
    });
}

async function answer(
  served: Served,
  exchange: Exchange & { subject: ToolCall },
  deps: McpDeps,
  signal: AbortSignal,
): Promise<void> {
  const { address, base, reply } = served;
  const known = authenticated(served, exchange, deps);
  const identity = known instanceof Promise ? await known : known;
  const entering = enterServer({ address, base, exchange, identity, reply, signal }, deps);
  const call = entering instanceof Promise ? await entering : entering;
  const { headers } = exchange.arrival;
  const sessionId = headers['mcp-session-id'];
  const named = typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
  switch (served.operation) {
    case operations.mcpEnd: {
      expectLegacy(headers['mcp-protocol-version']);
      const session = await deps.sessions.of(call, named);
      return deps.serverOf(call).end(call, session);
    }
    case operations.mcpStream: {
      expectLegacy(headers['mcp-protocol-version']);
      checkStreamHeaders(headers);
      const last = headers['last-event-id'];
      const session = await deps.sessions.of(call, named);
      const lastEventId = typeof last === 'string' ? last : undefined;
      return deps.serverOf(call).stream(call, session, lastEventId);
    }
    default:
      return await post(call, named, served, deps);
  }
}

/** Who is not let in is told what to log in for, which is for a server's own authorisation server to say. */
function authenticated(
  served: Served,
  exchange: Exchange,
  deps: McpDeps,
): ReturnType<AuthenticateCaller> | Promise<never> {
  const fail = async (error: unknown): Promise<never> => {
    if (fromUnknown(error).status === 401)
      served.scope = await deps.issuers.scopeAt(served.address);
    throw error;
  };
  try {
    return deps.authenticate(exchange, served)?.catch(fail);
  } catch (error) {
    return fail(error);
  }
}

/** From here on the request is of the trace that its message names, where its headers name none. */
function joinTrace({ exchange, reply }: McpCall, meta: Parameters<typeof withTraceOf>[1]): void {
  exchange.arrival = withTraceOf(exchange.arrival, meta);
  reply.add({ 'x-service-trace-id': headerText(exchange.arrival.traceId) });
}

async function post(
  call: McpCall,
  sessionId: string | undefined,
  { req, res }: Served,
  deps: McpDeps,
): Promise<void> {
  const { arrival } = call.exchange;
  const { headers } = arrival;
  checkPostHeaders(headers);
  const message = readMessage(await arrival.readBody());
  if (message.kind === 'request' || message.kind === 'notification') joinTrace(call, message.meta);
  expectRest(req, res);
  // Only a server may not have been able to read an id: nobody asked a client anything that has none.
  if (message.kind === 'error' && message.id === undefined)
    throw new McpFault({
      status: 400,
      code: rpcCodes.invalidRequest,
      message:
        'A JSON-RPC message from a client must have a method, or the id of the request that it answers.',
    });
  if (message.kind === 'request') expectRight(call, message.method);
  const { era, version } = checkEra(message, headers);
  const server = deps.serverOf(call);
  if (era === 'modern' && (message.kind === 'request' || message.kind === 'notification'))
    return postModern(call, message, version, server, deps.sealer);
  if (message.kind === 'request' && message.method === 'initialize')
    return server.begin(call, message).catch((error: unknown) => {
      throw error instanceof SignInNeeded ? tellLegacy(error, message.params) : error;
    });
  const found = deps.sessions.of(call, sessionId);
  const session = found instanceof Promise ? await found : found;
  if (message.kind !== 'request') return await server.tell(call, session, message);
  try {
    await server.request(call, session, message);
  } catch (error) {
    throw error instanceof SignInNeeded ? tellLegacy(error, clientOf(session.client)) : error;
  }
}

/** A request that stands alone; who has to sign in first is asked in its answer, where that may ask. */
async function postModern(
  call: McpCall,
  came: McpRequest | McpNotification,
  version: string,
  server: ServedServer,
  sealer: Sealer,
): Promise<void> {
  if (came.kind === 'notification') return server.modern(call, came, version);
  const message = withoutSignIn(call, came, sealer);
  return server.modern(call, message, version).catch((error: unknown) => {
    if (!(error instanceof SignInNeeded)) throw error;
    tellModern(error, call, message, sealer);
  });
}

/** Whether the token lets its client ask this; keys may ask everything. @throws AccessFault 403 that names the scope to log in for */
function expectRight({ identity }: McpCall, method: string): void {
  const right = rightOf(method);
  if (identity === undefined || right === undefined || identity.rights.has(right)) return;
  const description = `The token does not let this client call ${method}.`;
  throw new AccessFault(403, 'insufficient_scope', description, scopeFor(right));
}

/** Streams and ends of sessions are the older era's alone. */
function expectLegacy(sent: string | string[] | undefined): void {
  if (sent === undefined || legacyVersions.includes(String(sent))) return;
  if (isModernVersion(String(sent)))
    throw new McpFault({
      status: 405,
      code: rpcCodes.refused,
      message: 'This revision has no sessions: POST is all there is.',
    });
  throw new McpFault({
    status: 400,
    code: rpcCodes.invalidRequest,
    message: `MCP-Protocol-Version is not supported: it must be one of ${legacyVersions.join(', ')}.`,
  });
}

function codeOf(caught: unknown): string {
  if (caught instanceof ToolDenial) return 'guardrail.denied';
  const door = doorRefusal(caught);
  if (door !== undefined) return door.code;
  return caught instanceof McpFault ? `mcp.${caught.code}` : fromUnknown(caught).code;
}

function tellFault(caught: unknown, served: Served, exchange: Exchange, { logger }: McpDeps): void {
  const { req, res, reply } = served;
  if (reply.isOver || reply.isStreaming) {
    logIfOurs(caught, exchange, logger);
    // What was said to its end is still on its way.
    if (!reply.isOver) res.destroy();
    return;
  }
  expectRest(req, res);
  if (caught instanceof ToolDenial) {
    reply.body(200, caught.answer);
    return;
  }
  if (caught instanceof McpFault) {
    const { status, code, message, data, idText = 'null' } = caught;
    const headers: ReplyHeaders =
      status === 405 ? { allow: 'POST' } : caught instanceof SignInNeeded ? challenge(served) : {};
    const error = { code, message, ...(data === undefined ? {} : { data }) };
    reply.body(status, errorReply(idText, error), headers);
    return;
  }
  if (caught instanceof UserTokenFault) {
    const description = caught.message;
    // Not where to log in for the gateway: that has been done.
    const challenged = mcpChallenge(undefined, served.address, {
      error: 'invalid_token',
      description,
    });
    reply.body(401, oauthError('unauthorized', description), { 'www-authenticate': challenged });
    return;
  }
  if (caught instanceof AccessFault) {
    const { status, error, scope, message } = caught;
    const step =
      scope === undefined ? {} : challenge(served, { error: 'insufficient_scope', scope });
    reply.body(status, oauthError(error, message), step);
    return;
  }
  logIfOurs(caught, exchange, logger);
  const { subject } = exchange;
  tellGatewayError(
    fromUnknown(caught),
    served,
    subject.kind === 'tool-call' ? subject.event?.rpcId : undefined,
  );
}

function logIfOurs(caught: unknown, { arrival }: Exchange, logger: McpDeps['logger']): void {
  if (caught instanceof McpFault || caught instanceof ToolDenial) return;
  const error = fromUnknown(caught);
  if (error.code !== 'internal') return;
  const request = { err: error.cause ?? error, request_id: arrival.requestIdText };
  logger.error(request, 'a request failed on our side');
}

/** Where to log in, and what for. */
function challenge(
  { base, address, scope }: Served,
  fault?: Parameters<typeof mcpChallenge>[2],
): ReplyHeaders {
  return { 'www-authenticate': mcpChallenge(base, address, fault, scope ?? fault?.scope) };
}

/** @param idText of the message that is refused, where it was read */
function tellGatewayError(error: GatewayError, served: Served, idText = 'null'): void {
  const { reply } = served;
  const headers: ReplyHeaders = { ...error.headers };
  if (error.status === 401) {
    const isMissing = error.code === 'auth.missing_key';
    const fault = { error: 'invalid_token', description: error.message } as const;
    Object.assign(headers, challenge(served, isMissing ? undefined : fault));
    reply.body(
      401,
      oauthError(isMissing ? 'unauthorized' : 'invalid_token', error.message),
      headers,
    );
    return;
  }
  if (error.code === 'auth.missing_scope') {
    Object.assign(headers, challenge(served, { error: 'insufficient_scope', scope: 'mcp' }));
    reply.body(403, oauthError('insufficient_scope', error.message), headers);
    return;
  }
  if (error.status === 403) {
    reply.body(403, oauthError('forbidden', error.message), headers);
    return;
  }
  const { code: reason, message } = error;
  if (reason.startsWith('limit.')) {
    const retryAfter = error.headers?.['retry-after'];
    const data = {
      code: reason,
      ...(retryAfter === undefined ? {} : { retry_after: Number(retryAfter) }),
    };
    reply.body(
      error.status,
      errorReply(idText, { code: rpcCodes.refused, message, data }),
      headers,
    );
    return;
  }
  const code = reason.startsWith('request.') ? rpcCodes.invalidRequest : rpcCodes.internalError;
  reply.body(error.status, errorReply(idText, { code, message }), headers);
}

function oauthError(error: string, description: string): Buffer {
  return Buffer.from(JSON.stringify({ error, error_description: description }));
}
