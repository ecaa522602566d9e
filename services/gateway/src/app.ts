import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  type HeaderPrefixes,
  type HeaderSpelling,
  matchObject,
  type ObjectOperationId,
  objectOperations,
  operations,
  rootSegment,
  spelledHeaders,
  spellingOf,
  vendorErrorsAt,
  vendorTarget,
} from '@sluice/contracts';
import { errorBodies, fromUnknown, GatewayError, shapeHeaders } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Exchange } from './exchange/exchange.ts';
import type { Reply } from './exchange/reply.ts';
import { agentCall } from './exchange/subject.ts';
import { discardRest } from './http/discard-rest.ts';
import { arrivedHeaders, spelledError } from './http/header-names.ts';
import { requestTarget } from './http/request-target.ts';
import { mcpAddress } from './mcp/address.ts';
import type { ServeMcp } from './mcp/serve-mcp.ts';
import { adminPagePaths, adminRootPaths, isAdminPath, isCallersPath } from './routes/admin.ts';
import { live, type Readiness, ready } from './routes/health.ts';
import { noRoute } from './routes/no-route.ts';
import { onlyFor, type ServerMode } from './routes/only-for.ts';
import { letPagesCall } from './routes/page-calls.ts';
import { type Asking, type ServeDeps, serve } from './routes/serve.ts';
import { pathnameOf, unifiedEndpoints } from './routes/unified-endpoints.ts';

export interface AppDeps extends ServeDeps {
  pipelines: {
    /** Unified endpoints with a body. */
    unified: (exchange: Exchange) => Promise<Reply>;
    models: (exchange: Exchange) => Promise<Reply>;
    model: (exchange: Exchange) => Promise<Reply>;
    proxy: (exchange: Exchange) => Promise<Reply>;
    explain: (exchange: Exchange, spelling: HeaderSpelling) => Promise<Reply>;
    estimate: (exchange: Exchange, spelling: HeaderSpelling) => Promise<Reply>;
    tokenize: (exchange: Exchange, spelling: HeaderSpelling) => Promise<Reply>;
    explainMcp: (exchange: Exchange) => Promise<Reply>;
    explainAgent: (exchange: Exchange) => Promise<Reply>;
    /** A saved prompt, run or only rendered. */
    prompt: (exchange: Exchange) => Promise<Reply>;
    renderPrompt: (exchange: Exchange) => Promise<Reply>;
    agent: (exchange: Exchange) => Promise<Reply>;
    /** Secrets and calls of sessions, by their operations. */
    realtime: Readonly<Partial<Record<ObjectOperationId, (exchange: Exchange) => Promise<Reply>>>>;
  };
  /** Requests to MCP servers, which have addresses at the root. */
  mcp: ServeMcp;
  /** Where administrators find theirs; not given = here. */
  adminApi?: 'here' | 'elsewhere';
  forwardAdmin: (req: Parameters<RequestHandler>[0], res: Parameters<RequestHandler>[1]) => void;
  readiness: () => Readiness;
  logger: Logger;
}

/**
 * Every request in: the unified endpoints at their exact paths go straight to
 * their handlers, as calls of MCP servers and agents do, all else through Express. Its router, and the prototypes it
 * gives each request, would be a twentieth of what a short request costs.
 */
export function createApp(deps: AppDeps): RequestListener {
  const direct = new Map(
    unifiedEndpoints.map((endpoint) => [
      pathnameOf(endpoint),
      serve(endpoint, deps.pipelines.unified, deps),
    ]),
  );
  const kept = new Map(
    objectOperations.map((operation) => [
      operation.id,
      serve(
        operation,
        operation.id === operations.retrieveModel.id
          ? deps.pipelines.model
          : (deps.pipelines.realtime[operation.id] ?? deps.pipelines.proxy),
        deps,
      ),
    ]),
  );
  const { agentCall: row } = operations;
  const asking = {
    id: row.id,
    open: (path: string, search: string) => agentCall(row, path, search),
  };
  const agent = serve(asking, deps.pipelines.agent, deps);
  const app = createRoutes(deps, direct, agent);
  return (req, res) => {
    const handle = req.method === 'POST' ? direct.get(withoutQuery(req.url ?? '')) : undefined;
    if (handle !== undefined) return handle(req, res);
    if (letPagesCall(req, res)) return;
    if (isUpload(req.url ?? ''))
      req.url = `/${rootSegment.api}/proxy${requestTarget(req.url ?? '')}`;
    const server = mcpAddress(req.url ?? '');
    if (server !== undefined) return deps.mcp(req, res, server);
    const asVendors = vendorTarget(requestTarget(req.url ?? ''));
    if (asVendors !== undefined) req.url = asVendors;
    if (isAgentPath(req.url ?? '')) return agent(req, res);
    const object = objectAt(req);
    const keptHere = object === undefined ? undefined : kept.get(object);
    if (keptHere !== undefined) return keptHere(req, res);
    app(req, res);
  };
}

/** The same for who wants a part of it alone. */
export function createPartOf(
  app: RequestListener,
  mode: ServerMode,
  { logger, headerPrefixes }: Pick<AppDeps, 'logger' | 'headerPrefixes'>,
): RequestListener {
  const tell = errorTeller(logger, headerPrefixes);
  const message =
    mode === 'mcp'
      ? 'No such route. MCP servers, and what belongs to them, are all that is served here (SERVER_MODE, MCP_PORT).'
      : 'No such route. MCP servers are not served here (SERVER_MODE).';
  return onlyFor(mode, app, (req, res) =>
    tell(new GatewayError('request.route_not_found', { message }), req, res),
  );
}

/** What is asked of what stays at providers; undefined = nothing that a row knows. */
function objectAt({ method = 'GET', url = '' }: IncomingMessage): ObjectOperationId | undefined {
  const target = requestTarget(url);
  if (!target.startsWith(`/${rootSegment.api}/`)) return undefined;
  return matchObject(method, withoutQuery(target))?.operation.id;
}

/**
 * What Google's clients send up: of the address that an answer gave them for it they keep the path, and have it begin
 * at the host that they were told to ask (`@google/genai` 3.3, Python's `google-genai`).
 */
function isUpload(url: string): boolean {
  return url.includes('/upload/v') && /^\/upload\/v\d/.test(requestTarget(url));
}

/** An agent's address is an agent's, whichever provider the request names. */
function isAgentPath(url: string): boolean {
  return url.startsWith('/v1/agent') && /^\/v1\/agent(?:[/?]|$)/.test(url);
}

function withoutQuery(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** Routes in order: the unified endpoints as clients misspell them, then what is asked less often. */
function createRoutes(
  deps: AppDeps,
  unified: ReadonlyMap<string, RequestListener>,
  agent: RequestListener,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  // `/V1/…` is not `/v1/…`: what is passed on and what was matched must be the same path.
  app.set('case sensitive routing', true);
  const { models, proxy, prompt, renderPrompt } = deps.pipelines;

  for (const [pathname, handle] of unified) app.post(pathname, handle);
  app.get(pathnameOf(operations.listModels), serve(operations.listModels, models, deps));

  const explainCall: Asking = {
    id: operations.explain.id,
    open: (pathname, search) => ({
      kind: 'tool-call',
      // What the call itself takes, explaining it takes.
      operation: operations.mcpMessage,
      pathname,
      search,
    }),
  };
  app.post('/v1/explain/mcp/:server', serve(explainCall, deps.pipelines.explainMcp, deps));
  const explainAgentCall: Asking = {
    id: operations.explain.id,
    open: (pathname, search) =>
      agentCall(operations.agentCall, pathname.replace('/v1/explain/', '/v1/'), search),
  };
  app.post(
    ['/v1/explain/agent/:agent', '/v1/explain/agent/:agent/*path'],
    serve(explainAgentCall, deps.pipelines.explainAgent, deps),
  );
  for (const name of ['explain', 'estimate', 'tokenize'] as const) {
    const [path] = pathnameOf(operations[name]).split('/*');
    const paths = [`${path}`, `${path}/*endpoint`];
    const decide = deps.pipelines[name];
    app.post(paths, serve(operations.chatComplete, decide, deps, operations[name].id));
    app.all(paths, (_req, _res, next) =>
      next(new GatewayError('request.method_not_allowed', { headers: { allow: 'POST' } })),
    );
  }

  for (const { at } of [operations.realtime, operations.realtimeTranslation])
    app.get(at.slice(at.indexOf(' ') + 1), (_req, _res, next) =>
      next(new GatewayError('request.upgrade_required', { headers: { upgrade: 'websocket' } })),
    );

  const { chatComplete: chat, promptComplete, promptRender } = operations;
  app.post(pathnameOf(promptComplete), serve(chat, prompt, deps, promptComplete.id));
  app.post(pathnameOf(promptRender), serve(chat, renderPrompt, deps, promptRender.id));

  app.post('/v1/prompts/:reference/generate', (_req, _res, next) =>
    next(new GatewayError('prompt.generate_gone')),
  );

  // Where the request's target names its host as well.
  app.all(['/v1/agent', '/v1/agent/*path'], agent);

  const { api, health } = rootSegment;
  app.get([`/${health}`, `/${health}/live`, `/${api}/health`], live);
  app.get(`/${health}/ready`, ready(deps.readiness));

  const passThrough = serve(operations.proxy, proxy, deps);
  app.use(`/${api}`, (req, res, next) => {
    const headers = arrivedHeaders(deps.headerPrefixes, req.headers);
    if (isAdminPath(req.originalUrl, headers)) {
      if (deps.adminApi === 'elsewhere' && !isCallersPath(req.originalUrl))
        return next(adminElsewhere());
      return deps.forwardAdmin(req, res);
    }
    if (!proxiedMethods.has(req.method))
      return next(
        new GatewayError('request.method_not_allowed', {
          headers: { allow: 'POST, GET, PUT, DELETE' },
        }),
      );
    passThrough(req, res);
  });
  if (deps.adminApi === 'elsewhere')
    app.use([...adminPagePaths], (_req, _res, next) => next(adminElsewhere()));
  app.use([...adminRootPaths], (req, res) => deps.forwardAdmin(req, res));

  app.use((req, _res, next) => next(noRoute(req.originalUrl)));
  const tell = errorTeller(deps.logger, deps.headerPrefixes);
  // Express knows handlers of errors by their four parameters.
  const renderError: ErrorRequestHandler = (caught, req, res, _next) => tell(caught, req, res);
  app.use(renderError);
  return app;
}

function adminElsewhere(): GatewayError {
  return new GatewayError('request.route_not_found', {
    message: 'No such route. The admin API is not served here (ADMIN_API_ON_GATEWAY).',
  });
}

const proxiedMethods = new Set(['POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'HEAD']);

/** Tells errors outside a pipeline: no route, a path that is not a URL, a fault of ours. */
function errorTeller(logger: Logger, prefixes: HeaderPrefixes) {
  /** @param req with an `originalUrl` where it went through Express, which changes its `url` */
  return (
    caught: unknown,
    req: IncomingMessage & { readonly originalUrl?: string },
    res: ServerResponse,
  ): void => {
    const error =
      caught instanceof URIError
        ? new GatewayError('request.route_not_found', { cause: caught })
        : fromUnknown(caught);
    const path = withoutQuery(requestTarget(req.originalUrl ?? req.url ?? ''));
    if (error.code === 'internal') logger.error({ err: caught, path }, 'a route failed');
    if (res.headersSent) return void res.destroy();
    const requestId = randomUUID();
    const spelling = spellingOf(prefixes, req.headers);
    const shape = vendorErrorsAt(path) ?? 'openai';
    const body = {
      ...errorBodies[shape](spelledError(error, spelling), requestId),
      ...(error.status === 404 && shape === 'openai' ? { ok: false } : {}),
    };
    res.writeHead(
      error.status,
      spelledHeaders(prefixes, spelling, {
        'content-type': 'application/json',
        'x-service-request-id': requestId,
        ...error.headers,
        ...shapeHeaders(shape, error),
      }),
    );
    res.end(JSON.stringify(body));
    if (!req.complete) discardRest(req);
  };
}
