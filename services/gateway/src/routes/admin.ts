import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Arrival,
  type Changed,
  changedHeader,
  type ForwardedCallerSeal,
  forwardedCallerHeader,
  type HeaderPrefixes,
  type InForce,
  inForceHeader,
  lenientInputHeader,
  readChanged,
  rootSegment,
  spelledHeaders,
  spellingOf,
} from '@sluice/contracts';
import { adminErrorBody, GatewayError } from '@sluice/errors';
import { upstreamFailure } from '@sluice/outbound';
import { type ClientTls, renewed } from '@sluice/rpc';
import { uuidText } from '@sluice/usage';
import { buildConnector, Pool } from 'undici';
import { bodyStream, carriesBody } from '../http/body-stream.ts';
import { whenCallerGone } from '../http/caller-gone.ts';
import { discardRest } from '../http/discard-rest.ts';
import { arrivedHeaders, spelledError } from '../http/header-names.ts';
import { isAmbiguousPath, requestTarget } from '../http/request-target.ts';
import { uuidV7 } from '../usage/uuid.ts';

/** First path segments after `/v1` that belong to the admin API. */
const adminSegments = new Set([
  'admin',
  'agent-integrations',
  'agent-servers',
  'analytics',
  'api-keys',
  'audit-logs',
  'catalogue',
  'collections',
  'configs',
  'docs',
  'feedback',
  'guardrails',
  'integrations',
  'labels',
  'ledger',
  'log',
  'logs',
  'mcp-integrations',
  'mcp-servers',
  'openapi.json',
  'otel',
  'policies',
  'prompts',
  'providers',
  'requests',
  'scim',
  'secret-references',
  'simulate',
  'traces',
  'virtual-keys',
  'workspace-exclusions',
  rootSegment.prices,
  rootSegment.registry,
]);

/**
 * Those of them that the control plane answers from the ledger: while that is silent each waits for ten seconds, on connections of
 * their own, so that nothing else waits behind them.
 */
const ledgerSegments = new Set([
  'analytics',
  'ledger',
  'log',
  'logs',
  'otel',
  'requests',
  'simulate',
  'traces',
]);

/**
 * Questions under way. The data service knows best which of them wait for too long, so as many go there as wait there: behind these
 * one would only wait here, and come when its caller gives up.
 */
const questionsMax = 128;

/** Answered by the control plane, and not below `/v1`: price lists, the registry of MCP servers, the reference, OAuth of MCP's clients. */
export const adminRootPaths: readonly string[] = [
  `/${rootSegment.prices}`,
  `/${rootSegment.registry}/servers`,
  `/${rootSegment.docs}`,
  `/${rootSegment.oauth}`,
  `/${rootSegment.wellKnown}`,
];

/** Those of them that are for administrators, and may be left off the callers' port. */
export const adminPagePaths: readonly string[] = [`/${rootSegment.docs}`];

/** Whether a path of the admin API is one that callers of models need as well: feedback, and what their frameworks tell. */
export function isCallersPath(url: string): boolean {
  return onlyOurs.has(segmentOf(requestTarget(url)) ?? '');
}

/** The first below `/v1`. */
function segmentOf(target: string): string | undefined {
  return /^\/v1\/([^/?]+)/.exec(target)?.[1];
}

/**
 * Called between model calls, by clients whose every request names their provider; no provider has them. What is at the root stands
 * below `/v1` as well: clients that are generated from the description know one address for all of its paths.
 */
const onlyOurs: ReadonlySet<string> = new Set([
  'feedback',
  'otel',
  rootSegment.prices,
  rootSegment.registry,
]);

/**
 * Whether a path is the admin API's. A few names (`collections`, `prompts` …)
 * are also endpoints of providers: a request that names a provider is meant for
 * it. Takes headers as they are known inside.
 */
export function isAdminPath(url: string, headers: IncomingMessage['headers']): boolean {
  const segment = segmentOf(requestTarget(url));
  if (segment === undefined || !adminSegments.has(segment)) return false;
  if (onlyOurs.has(segment)) return true;
  return !['provider', 'virtual-key', 'config', 'custom-host'].some(
    (name) => headers[`x-service-${name}`] !== undefined,
  );
}

/** What only a proxy may say of a caller, and only we of ours. */
const isForwarding = (name: string) =>
  name === 'forwarded' ||
  name === 'x-real-ip' ||
  name === forwardedCallerHeader ||
  name.startsWith('x-forwarded-');

const dropped = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'proxy-connection',
  'te',
  'trailer',
]);

/** What this gateway holds of what is changed. */
export interface HeldState {
  readonly connected: boolean;
  catchUp(changes: readonly Changed[], timeoutMs: number): Promise<boolean>;
}

/** The control plane has waited as well; longer than this a caller does not wait for one gateway. */
const catchUpMs = 500;

export interface AdminForwarderOptions {
  controlPlaneUrl: string;
  prefixes: HeaderPrefixes;
  /** Signs what we state of the caller, so that the control plane can tell us from everybody else. */
  seal: ForwardedCallerSeal;
  readArrival: (req: IncomingMessage) => Arrival;
  held: HeldState;
  /** For a control plane that is reached by https. */
  tls?: ClientTls | undefined;
}

/**
 * Forwards admin calls to the control plane as they come: one address for users, no interpretation
 * here. Only our own headers are renamed, there and back, and a path that could be read in two ways is refused.
 */
export function createAdminForwarder(options: AdminForwarderOptions): {
  forward(req: IncomingMessage & { originalUrl?: string }, res: ServerResponse): void;
  close(): Promise<void>;
} {
  const { prefixes, seal, readArrival } = options;
  const base = new URL(options.controlPlaneUrl);
  const connector = renewed(options.tls ?? {}, (pem) => buildConnector({ ...pem, timeout: 5_000 }));
  const openPool = (connections: number) =>
    new Pool(base.origin, {
      connect: (...about) => connector()(...about),
      connections,
      // Longer than anything the control plane waits for.
      headersTimeout: 60_000,
      bodyTimeout: 60_000,
      // The control plane keeps it longer, and says so.
      keepAliveMaxTimeout: 30_000,
    });
  const pools = { questions: openPool(questionsMax), records: openPool(32), others: openPool(32) };
  let questions = 0;

  async function run(
    req: IncomingMessage & { originalUrl?: string },
    res: ServerResponse,
    requestId: string,
  ): Promise<void> {
    const target = requestTarget(req.originalUrl ?? req.url ?? '/');
    refuseAmbiguous(target);
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(arrivedHeaders(prefixes, req.headers)))
      if (value !== undefined && !dropped.has(name) && !isForwarding(name)) headers[name] = value;
    const spelling = spellingOf(prefixes, req.headers);
    // Inside, nobody sees any more which spelling it was.
    if (spelling !== prefixes.mainSpelling) headers[lenientInputHeader] ??= 'true';
    const arrival = readArrival(req);
    headers[forwardedCallerHeader] = seal.sign({ ...arrival, requestId }, Date.now());
    // For a proxy between us and the control plane, and its log; the control plane believes the statement.
    headers['x-forwarded-for'] = arrival.address;
    if (arrival.host !== undefined) headers['x-forwarded-host'] = arrival.host;
    headers['x-forwarded-proto'] = arrival.proto;
    const abort = new AbortController();
    whenCallerGone(req, res, () => abort.abort());
    const kind = kindOf(req.method, target);
    if (kind === 'questions') {
      if (res.destroyed) return;
      if (questions >= questionsMax) throw busy();
      questions += 1;
      res.once('close', () => (questions -= 1));
    }
    const answer = await pools[kind].request({
      path: `${base.pathname === '/' ? '' : base.pathname}${target}`,
      method: req.method as 'GET',
      headers,
      body: carriesBody(req.headers) ? bodyStream(req) : null,
      signal: abort.signal,
    });
    const out: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !dropped.has(name)) out[name] = value;
    const inForce = await inForceHere(answer.headers, options.held);
    if (inForce !== undefined) out[inForceHeader] = inForce;
    res.writeHead(answer.statusCode, spelledHeaders(prefixes, spelling, out));
    answer.body.on('error', () => res.destroy());
    if (!req.complete) res.once('finish', () => discardRest(req));
    answer.body.pipe(res);
  }

  return {
    forward(req, res) {
      // Ours, also at the control plane: what a caller calls a request is no id.
      const requestId = uuidText(uuidV7(Date.now()));
      run(req, res, requestId).catch((caught: unknown) => {
        if (res.headersSent || res.destroyed) return void res.destroy();
        const error = caught instanceof GatewayError ? caught : unavailable(caught, req.method);
        const spelling = spellingOf(prefixes, req.headers);
        res.writeHead(
          error.status,
          spelledHeaders(prefixes, spelling, {
            'content-type': 'application/json',
            'x-service-request-id': requestId,
            'x-request-id': requestId,
            ...error.headers,
          }),
        );
        res.end(JSON.stringify(adminErrorBody(spelledError(error, spelling), requestId)));
        if (!req.complete) discardRest(req);
      });
    },
    async close() {
      await Promise.all(Object.values(pools).map((pool) => pool.destroy()));
    },
  };
}

/**
 * Whoever is answered by this gateway may ask it next: what the answer says to
 * be changed is in force here before it is sent on. A gateway that follows the
 * control plane was waited for already.
 */
async function inForceHere(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  held: HeldState,
): Promise<InForce | undefined> {
  const told = headers[inForceHeader];
  const changed = headers[changedHeader];
  if (typeof told !== 'string' || typeof changed !== 'string') return undefined;
  if (told === 'everywhere' && held.connected) return 'everywhere';
  return (await held.catchUp(readChanged(changed), catchUpMs)) ? 'here' : 'pending';
}

/** @throws GatewayError 400 `request.invalid_field` when the path could lead somewhere else behind us. */
/** Below these stand names that may hold slashes, escaped: the registry's are `publisher/server`, and keys of metadata what callers like. */
const slashedNames = [
  ...adminRootPaths.flatMap((path) => [path, `/${rootSegment.api}${path}`]),
  '/v1/analytics/groups/metadata',
];

function refuseAmbiguous(target: string): void {
  const pathname = target.split('?', 1)[0] ?? '';
  const escapedSlashes = slashedNames.some((root) => pathname.startsWith(`${root}/`));
  if (!isAmbiguousPath(pathname, { escapedSlashes })) return;
  throw new GatewayError('request.invalid_field', {
    field: 'path',
    message:
      'The path of an admin call must not have empty, "." or ".." segments, backslashes, semicolons or escaped separators.',
  });
}

/** Which calls wait for connections with it. */
function kindOf(method: string | undefined, target: string): 'questions' | 'records' | 'others' {
  const segment = segmentOf(target) ?? '';
  if (!ledgerSegments.has(segment)) return 'others';
  const isRecord = segment === 'otel' || (method === 'POST' && /^\/v1\/logs\/?(\?|$)/.test(target));
  return isRecord ? 'records' : 'questions';
}

function busy(): GatewayError {
  return new GatewayError('admin.analytics_busy', { headers: { 'retry-after': '5' } });
}

function unavailable(caught: unknown, method: string | undefined): GatewayError {
  const cause = upstreamFailure(caught, false);
  const mayBeMade = method !== 'GET' && method !== 'HEAD' && wasSent.has(cause.code);
  return new GatewayError('admin.control_plane_unavailable', {
    ...(mayBeMade && {
      message:
        'The control plane did not answer: what was asked for may have been made. Look before it is sent again.',
    }),
    cause,
    headers: { 'retry-after': '2' },
  });
}

/** What fails with these had reached the other side, or may have: a connection was made. */
const wasSent: ReadonlySet<string> = new Set(['upstream.reset', 'upstream.invalid_response']);
