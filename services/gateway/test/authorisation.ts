import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineSettings } from '@sluice/env';
import { createConnectGuard, createUpstreamPools, makeHostRules } from '@sluice/outbound';
import { keepAliveMs } from '@sluice/testkit';
import type { CallAuthoriser, UnauthorisedRequest } from '../src/calls/call-authoriser.ts';
import { cloudSettings } from '../src/cloud-settings.ts';
import { createAuthoriser } from '../src/upstream-auth/authoriser.ts';

const cleanups: (() => unknown)[] = [];

/** What these helpers started ends here. */
export async function endAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export interface Asked {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  form: URLSearchParams;
}

export interface TokenServer {
  url: string;
  /** As `host:port`. */
  host: string;
  asked: Asked[];
}

type Answer = { status?: number; body: string | object } | 'hang' | 'cut';

/** A real server in the place of a cloud's. */
export async function startTokenServer(
  answer: (asked: Asked, number: number) => Answer,
): Promise<TokenServer> {
  const asked: Asked[] = [];
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { method = '', url = '', headers } = req;
      const one = { method, url, headers, body, form: new URLSearchParams(body) };
      asked.push(one);
      const reply = answer(one, asked.length);
      if (reply === 'hang') return;
      if (reply === 'cut') return void req.socket.destroy();
      const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      res.writeHead(reply.status ?? 200).end(text);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, asked };
}

export interface ExampleAuthoriser extends CallAuthoriser {
  nowMs: number;
}

/** An authoriser in this environment, on a clock of the test's. Loopback is a trusted address. */
export function exampleAuthoriser(environment: Record<string, string> = {}): ExampleAuthoriser {
  const hostRules = makeHostRules({
    trusted: [],
    trustedForCallers: ['127.0.0.1'],
    production: true,
  });
  const pools = createUpstreamPools({ guard: createConnectGuard({ rules: hostRules }) });
  cleanups.push(() => pools.close(0));
  const clock = { nowMs: Date.UTC(2026, 0, 1) };
  const authoriser = createAuthoriser({
    pools,
    hostRules,
    cloud: defineSettings({ Clouds: cloudSettings }).readEnv(environment),
    nowMs: () => clock.nowMs,
  });
  return Object.assign(clock, authoriser);
}

export interface ExampleCall extends Partial<UnauthorisedRequest> {
  settings?: Readonly<Record<string, string>>;
  /** Settings that admins saved; undefined = the provider is the caller's own. */
  saved?: Readonly<Record<string, string>>;
}

export function exampleCall({ settings, saved, ...over }: ExampleCall): UnauthorisedRequest {
  const all: Readonly<Record<string, string>> = { ...saved, ...settings };
  return {
    recipe: { type: 'none' },
    apiKey: '',
    setting: (name) => all[name],
    savedSetting: saved === undefined ? undefined : (name) => saved[name],
    metadata: [],
    owner: 'workspace',
    origin: 'https://upstream.example.com',
    path: '/v1/x',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"a":1}'),
    signal: new AbortController().signal,
    ...over,
  };
}

/** The error of a call, after a look that nothing in it, for callers or logs, shows one of these. */
export async function failureOf(
  work: Promise<unknown>,
  secrets: readonly string[] = [],
): Promise<{ code?: string; status?: number; message: string; field?: string }> {
  const error = await work.then(
    () => new Error('did not fail'),
    (caught: Error) => caught,
  );
  const all = shown(error);
  for (const secret of secrets) if (all.includes(secret)) throw new Error(`shown: ${all}`);
  return error;
}

/** All that a logger may find in an error. */
function shown(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? '';
  const own = Object.fromEntries(
    Object.getOwnPropertyNames(error)
      .filter((name) => name !== 'cause')
      .map((name) => [name, (error as never)[name]]),
  );
  return `${String(error)} ${JSON.stringify(own)} ${shown(error.cause ?? '')}`;
}
