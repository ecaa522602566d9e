import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HeaderPrefixes, spelledHeaders, spellingOf } from '@sluice/contracts';
import { adminErrorBody, GatewayError } from '@sluice/errors';
import { upstreamFailure } from '@sluice/outbound';
import { Pool } from 'undici';
import { bodyStream, carriesBody } from '../http/body-stream.ts';
import { whenCallerGone } from '../http/caller-gone.ts';
import { discardRest } from '../http/discard-rest.ts';
import { arrivedHeaders, spelledError } from '../http/header-names.ts';
import { requestTarget } from '../http/request-target.ts';
import { uuidText, uuidV7 } from '../usage/uuid.ts';

/** First path segments after `/v1` that belong to the admin API. */
const adminSegments = new Set([
  'admin',
  'agent-integrations',
  'agent-servers',
  'analytics',
  'api-keys',
  'audit-logs',
  'collections',
  'configs',
  'docs',
  'feedback',
  'guardrails',
  'integrations',
  'labels',
  'log',
  'logs',
  'mcp-integrations',
  'mcp-servers',
  'openapi.json',
  'policies',
  'prompts',
  'providers',
  'scim',
  'secret-references',
  'virtual-keys',
  'workspace-exclusions',
]);

/** Answered by the control plane, and not below `/v1`: price lists, the registry of MCP servers, the reference. */
export const adminRootPaths: readonly string[] = ['/model-configs', '/v0.1/servers', '/docs'];

/** Called between model calls, by clients whose every request names their provider; no provider has it. */
const onlyOurs = new Set(['feedback']);

/**
 * Whether a path is the admin API's. A few names (`collections`, `prompts` …)
 * are also endpoints of providers: a request that names a provider is meant for
 * it. Takes headers as they are known inside.
 */
export function isAdminPath(url: string, headers: IncomingMessage['headers']): boolean {
  const segment = /^\/v1\/([^/?]+)/.exec(requestTarget(url))?.[1];
  if (segment === undefined || !adminSegments.has(segment)) return false;
  if (onlyOurs.has(segment)) return true;
  return !['provider', 'virtual-key', 'config', 'custom-host'].some(
    (name) => headers[`x-service-${name}`] !== undefined,
  );
}

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

/**
 * Forwards admin calls to the control plane as they come: one address for users, no interpretation
 * here. Only our own headers are renamed, there and back.
 */
export function createAdminForwarder(
  controlPlaneUrl: string,
  prefixes: HeaderPrefixes,
): {
  forward(req: IncomingMessage & { originalUrl?: string }, res: ServerResponse): void;
  close(): Promise<void>;
} {
  const base = new URL(controlPlaneUrl);
  const pool = new Pool(base.origin, {
    connections: 32,
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
    connectTimeout: 5_000,
  });

  async function run(
    req: IncomingMessage & { originalUrl?: string },
    res: ServerResponse,
  ): Promise<void> {
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(arrivedHeaders(prefixes, req.headers)))
      if (value !== undefined && !dropped.has(name)) headers[name] = value;
    // The control plane believes this header from us only; what a caller claims is replaced.
    headers['x-forwarded-for'] = req.socket.remoteAddress ?? '';
    // Links that the control plane makes lead to where the caller was, or to a proxy in front of it.
    headers['x-forwarded-host'] ??= req.headers.host ?? '';
    headers['x-forwarded-proto'] ??= 'http';
    const abort = new AbortController();
    whenCallerGone(req, res, () => abort.abort());
    const answer = await pool.request({
      path: `${base.pathname === '/' ? '' : base.pathname}${requestTarget(req.originalUrl ?? req.url ?? '/')}`,
      method: req.method as 'GET',
      headers,
      body: carriesBody(req.headers) ? bodyStream(req) : null,
      signal: abort.signal,
    });
    const out: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !dropped.has(name)) out[name] = value;
    const spelling = spellingOf(prefixes, req.headers);
    res.writeHead(answer.statusCode, spelledHeaders(prefixes, spelling, out));
    answer.body.on('error', () => res.destroy());
    if (!req.complete) res.once('finish', () => discardRest(req));
    answer.body.pipe(res);
  }

  return {
    forward(req, res) {
      run(req, res).catch((caught: unknown) => {
        if (res.headersSent || res.destroyed) return void res.destroy();
        const cause = upstreamFailure(caught, false);
        const error = new GatewayError('admin.control_plane_unavailable', { cause });
        const requestId = uuidText(uuidV7(Date.now()));
        const spelling = spellingOf(prefixes, req.headers);
        res.writeHead(
          error.status,
          spelledHeaders(prefixes, spelling, {
            'content-type': 'application/json',
            'x-service-request-id': requestId,
            'retry-after': '2',
          }),
        );
        res.end(JSON.stringify(adminErrorBody(spelledError(error, spelling), requestId)));
        if (!req.complete) discardRest(req);
      });
    },
    close: () => pool.destroy(),
  };
}
