import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  Client as ClientOfTwo,
  type OAuthClientProvider as ProviderOfTwo,
  StreamableHTTPClientTransport as TransportOfTwo,
} from '@modelcontextprotocol/client';
import {
  type OAuthClientProvider,
  UnauthorizedError,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  awayFrom,
  Browser,
  freePort,
  isLongForm,
  pageOf,
  testCertificatePath,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { echoByInspector, echoByMcpRemote } from './hosts.ts';
import { issuedByOthers } from './issued-by-others.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';

/** Clients of others log in through a gateway, with what the control plane gives them, and use servers by it. */
let lab: McpLab;
let upstream: LegacyUpstream;
let server: SavedServer;
let other: SavedServer;
let base: string;
let person: { id: string; key: string; keyId: string };
const log: FixtureLog = { writes: 0, cancelled: 0 };

beforeAll(async () => {
  [lab, upstream] = await Promise.all([
    startMcpLab({
      processes: ['control-plane'],
      environment: {
        'control-plane': { NODE_EXTRA_CA_CERTS: testCertificatePath('authority') },
      },
    }),
    startLegacyUpstream({ makeServer: () => fixtureServer(log) }),
  ]);
  [server, other] = [await lab.save({ url: upstream.url }), await lab.save({ url: upstream.url })];
  base = lab.scenario.stack.gatewayUrls[0] ?? '';
  const { data } = await lab.scenario.admin<{ data: { id: string }[] }>('GET', '/admin/users');
  person = await newPersonKey(data[0]?.id ?? '');
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
});

async function newPersonKey(userId: string) {
  const made = await lab.scenario.admin<{ key: string; id: string }>(
    'POST',
    '/api-keys/workspace/user',
    {
      name: 'For MCP',
      workspace_id: lab.scenario.stack.credentials.workspace_id,
      user_id: userId,
      scopes: ['mcp.invoke'],
    },
  );
  return { id: userId, key: made.key, keyId: made.id };
}

/** Of a stream, which would go on for as long as its caller stays: a second, and ten times of it in the suite, which busy machines run. */
const soonMs = isLongForm ? 1_000 : 10_000;
const redirectUri = 'http://127.0.0.1:41234/callback';

/** What a host keeps of a log-in; its browser is ours. */
class Host implements OAuthClientProvider, ProviderOfTwo {
  readonly redirectUrl = redirectUri;
  readonly clientMetadataUrl?: string;
  readonly kept: Record<string, unknown> = {};
  readonly browser = new Browser(base);
  /** Where the browser was sent, each time. */
  readonly asked: URL[] = [];
  away: URL | undefined;

  constructor(options: { clientMetadataUrl?: string } = {}) {
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
  }

  get clientMetadata() {
    return {
      client_name: 'A host',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
  // biome-ignore lint/suspicious/noExplicitAny: each client has types of its own for the same documents
  clientInformation = (): any => this.kept.client;
  saveClientInformation = (information: unknown) => this.#keep('client', information);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  tokens = (): any => this.kept.tokens;
  saveTokens = (tokens: unknown) => this.#keep('tokens', tokens);
  codeVerifier = () => String(this.kept.verifier);
  saveCodeVerifier = (verifier: string) => this.#keep('verifier', verifier);
  state = () => 'a-state';
  invalidateCredentials = (what: string) => {
    if (what === 'all' || what === 'tokens') delete this.kept.tokens;
    if (what === 'all' || what === 'client') delete this.kept.client;
  };

  async redirectToAuthorization(url: URL) {
    this.asked.push(url);
    let page = await pageOf(await this.browser.follow(url.href));
    if (page.html.includes('name="key"'))
      page = await pageOf(await this.browser.submit(page, { do: 'login', key: person.key }));
    expect(page.html, page.html).toContain('value="allow"');
    this.away = awayFrom(await this.browser.submit(page, { do: 'allow' }));
  }

  #keep(name: string, value: unknown) {
    this.kept[name] = value;
  }
}

const codeOf = (host: Host) => host.away?.searchParams.get('code') ?? '';
const urlOf = (saved: SavedServer) => new URL(`${base}/${saved.slug}/mcp`);
const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content[0]?.text ?? '';

/** By the SDK of the older era: the first attempt asks to log in, the second is let in. */
async function connectOne(host: Host, saved = server): Promise<Client> {
  const client = () => new Client({ name: 'stranger', version: '1' }, { capabilities: {} });
  const transport = new StreamableHTTPClientTransport(urlOf(saved), { authProvider: host });
  const first = client();
  try {
    await first.connect(transport);
    return first;
  } catch (error) {
    expect(error).toBeInstanceOf(UnauthorizedError);
    await transport.finishAuth(codeOf(host));
  }
  const second = client();
  await second.connect(new StreamableHTTPClientTransport(urlOf(saved), { authProvider: host }));
  return second;
}

/** The same by the client of 2.4, which checks issuers. */
async function connectTwo(host: Host, saved = server): Promise<ClientOfTwo> {
  const transport = new TransportOfTwo(urlOf(saved), { authProvider: host });
  const client = () => new ClientOfTwo({ name: 'stranger', version: '1' });
  const first = client();
  try {
    await first.connect(transport);
    return first;
  } catch (error) {
    expect(String((error as Error).name)).toContain('Unauthorized');
    await transport.finishAuth(host.away?.searchParams ?? new URLSearchParams());
  }
  const second = client();
  await second.connect(new TransportOfTwo(urlOf(saved), { authProvider: host }));
  return second;
}

const clients = [
  ['sdk 1.32', connectOne],
  ['client 2.4', connectTwo],
] as const;

issuedByOthers(() => ({ lab, base, upstream, person }));

describe.each(clients)('%s with an OAuthClientProvider (M16)', (_name, connect) => {
  it('goes from 401 to a call, renews a token that ended, and logs in again when what renews it is dead', async () => {
    const host = new Host();
    const client = await connect(host);
    expect(host.asked).toHaveLength(1);
    expect(host.asked[0]?.searchParams.get('resource')).toBe(urlOf(server).href);
    expect(textOf(await client.callTool({ name: 'echo', arguments: { a: 1 } }))).toContain('a');
    await client.close();

    const before = host.kept.tokens as { access_token: string; refresh_token: string };
    host.kept.tokens = { ...before, access_token: `${before.access_token.slice(0, -8)}AAAAAAAA` };
    const renewed = await connect(host);
    expect(host.asked).toHaveLength(1);
    expect((host.kept.tokens as typeof before).refresh_token).not.toBe(before.refresh_token);
    await renewed.callTool({ name: 'echo', arguments: {} });
    await renewed.close();

    host.kept.tokens = { ...before, access_token: 'ended' };
    const again = await connect(host);
    expect(host.asked).toHaveLength(2);
    await again.callTool({ name: 'echo', arguments: {} });
    await again.close();
  });
});

it('takes a document as the client, without registration (M17)', async () => {
  let url = '';
  const site = createServer(
    {
      cert: readFileSync(testCertificatePath('server')),
      key: readFileSync(testCertificatePath('server-key')),
    },
    (_req, res) => {
      res.setHeader('content-type', 'application/json');
      res.end(
        JSON.stringify({
          client_id: url,
          client_name: 'By document',
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
        }),
      );
    },
  );
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  url = `https://localhost:${(site.address() as AddressInfo).port}/client.json`;
  try {
    const host = new Host({ clientMetadataUrl: url });
    const client = await connectTwo(host);
    expect(host.asked[0]?.searchParams.get('client_id')).toBe(url);
    await client.callTool({ name: 'echo', arguments: {} });
    await client.close();
  } finally {
    site.close();
  }
});

const ask = (token: string | undefined, method = 'tools/list', saved = server) =>
  fetch(urlOf(saved), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      },
    }),
  });

/** A session's own stream. `endedAt`: of `performance.now()`; 0 = it goes on. */
async function streamOf(token: string) {
  const begun = await ask(token, 'initialize');
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${token}`,
    'mcp-session-id': begun.headers.get('mcp-session-id') ?? '',
  };
  const answer = await fetch(urlOf(server), { headers });
  expect(answer.status).toBe(200);
  const stream = { endedAt: 0, ended: answer.text().then(() => performance.now()) };
  void stream.ended.then((at) => {
    stream.endedAt = at;
  });
  return stream;
}
const statusOf = async (token: string, saved = server) =>
  (await ask(token, 'initialize', saved)).status;
const tokenOf = (host: Host) => (host.kept.tokens as { access_token: string }).access_token;

it('passes the conformance suite of authorisation servers (M15)', async () => {
  const port = await freePort();
  const registered = await fetch(`${base}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: 'none',
    }),
  });
  const { client_id } = (await registered.json()) as { client_id: string };
  const file = join(import.meta.dirname, '../../node_modules/mcp-conformance-2/dist/index.js');
  const asked = ['authorization', '--url', base, '--client-id', client_id];
  asked.push('--resource', urlOf(server).href, '--port', String(port));
  const suite = spawn(process.execPath, [file, ...asked]);
  let said = '';
  let isAnswered = false;
  const hear = (chunk: Buffer) => {
    said += String(chunk);
    const [, url] = /(http:\/\/\S+\/oauth\/authorize\?\S+)\s/.exec(said) ?? [];
    if (url === undefined || isAnswered) return;
    isAnswered = true;
    const host = new Host();
    // The suite listens where its browser is sent.
    void host.redirectToAuthorization(new URL(url)).then(() => fetch(host.away ?? url));
  };
  suite.stdout.on('data', hear);
  suite.stderr.on('data', hear);
  const deadline = setTimeout(() => suite.kill(), 15_000);
  await once(suite, 'close');
  clearTimeout(deadline);
  expect(said).toContain('Total: 3 passed, 0 failed');
});

/** They are large: `npm run mcp:hosts` installs them, and says where. */
const hosts = process.env.SLUICE_MCP_HOSTS;

describe.runIf(hosts !== undefined)('programs that people connect', () => {
  it.each([
    ['mcp-remote', echoByMcpRemote],
    ['MCP Inspector', echoByInspector],
  ])('%s logs in and calls (M19)', async (_name, echo) => {
    const logIn = async (address: string) => {
      const host = new Host();
      await host.redirectToAuthorization(new URL(address));
      await fetch(host.away ?? address);
    };
    const options = { folder: hosts ?? '', url: urlOf(server).href, logIn };
    expect(await echo(options, 'hello there')).toContain('hello there');
  });
});

/** One with less than what was let in, asked for in JSON. */
async function readingToken(): Promise<string> {
  const host = new Host();
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, string>;
  };
  const { client_id = '' } = await post('/oauth/register', host.clientMetadata);
  const code_verifier = randomBytes(32).toString('base64url');
  await host.redirectToAuthorization(
    new URL(
      `${base}/oauth/authorize?${new URLSearchParams({
        response_type: 'code',
        client_id,
        redirect_uri: redirectUri,
        code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
        code_challenge_method: 'S256',
        resource: urlOf(server).href,
        scope: 'mcp mcp:read',
      })}`,
    ),
  );
  const { refresh_token = '' } = await post('/oauth/token', {
    grant_type: 'authorization_code',
    code: codeOf(host),
    redirect_uri: redirectUri,
    client_id,
    code_verifier,
  });
  const narrow = await post('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token,
    client_id,
    scope: 'mcp:read',
  });
  expect(narrow.scope, JSON.stringify(narrow)).toBe('mcp:read');
  return narrow.access_token ?? '';
}

describe('an access token at the gateway', () => {
  it('is asked for by a challenge that names the document, which the gateway serves', async () => {
    const answer = await ask(undefined);
    expect(answer.status).toBe(401);
    const challenge = answer.headers.get('www-authenticate') ?? '';
    const named = /^Bearer .*resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    expect(await (await fetch(named)).json()).toMatchObject({
      resource: urlOf(server).href,
      authorization_servers: [base],
    });
    const alias = await fetch(`${base}/.well-known/oauth-authorization-server/${server.slug}/mcp`);
    expect(await alias.json()).toMatchObject({ issuer: urlOf(server).href });
  });

  it('is for one server, at one address; not for models, nor for the admin API', async () => {
    const host = new Host();
    await (await connectOne(host)).close();
    const token = tokenOf(host);
    expect(await statusOf(token)).toBe(200);
    const elsewhere = await ask(token, 'initialize', other);
    expect(elsewhere.status).toBe(401);
    expect(elsewhere.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const chat = await lab.scenario.call('/v1/chat/completions', { key: token, body: {} });
    expect(chat.status).toBe(401);
    const admin = await fetch(`${base}/v1/mcp-servers`, {
      headers: { 'x-service-api-key': token },
    });
    expect(admin.status).toBe(401);
  });

  it('lets its client do what its scopes say, and says what more would take', async () => {
    const token = await readingToken();
    const headers = { authorization: `Bearer ${token}` };
    const client = new Client({ name: 'stranger', version: '1' }, { capabilities: {} });
    await client.connect(
      new StreamableHTTPClientTransport(urlOf(server), { requestInit: { headers } }),
    );
    await client.listTools();
    await client.readResource({ uri: 'test://one' });
    await expect(client.callTool({ name: 'echo', arguments: {} })).rejects.toThrow(
      'insufficient_scope',
    );
    const refused = await ask(token, 'tools/call');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_scope", .*scope="mcp"/,
    );
    await client.close();
  });

  it('ends when the client revokes it, and when the key does, before that is answered, and its streams within a second; no others', async () => {
    const mine = person;
    const [host, second] = [new Host(), new Host()];
    await (await connectOne(host)).close();
    expect(await statusOf(tokenOf(host))).toBe(200);
    const first = await streamOf(tokenOf(host));
    person = await newPersonKey(person.id);
    const passer = await newPersonKey(person.id);
    try {
      await (await connectOne(second)).close();
      expect(await statusOf(tokenOf(second))).toBe(200);
      const [other, own] = [await streamOf(tokenOf(second)), await streamOf(person.key)];
      // Somebody else's key ends, which is nothing to these.
      expect(await statusOf(passer.key)).toBe(200);
      await lab.scenario.admin('DELETE', `/api-keys/${passer.keyId}`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect([first, other, own].map(({ endedAt }) => endedAt)).toEqual([0, 0, 0]);

      const { client_id } = host.kept.client as { client_id: string };
      const revoked = await fetch(`${base}/oauth/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ token: tokenOf(host), client_id }),
      });
      const revokedAt = performance.now();
      expect(revoked.status).toBe(200);
      expect(await statusOf(tokenOf(host))).toBe(401);
      expect((await first.ended) - revokedAt).toBeLessThan(soonMs);
      expect([other, own].map(({ endedAt }) => endedAt)).toEqual([0, 0]);

      await lab.scenario.admin('POST', `/api-keys/${person.keyId}/suspend`, {});
      const suspendedAt = performance.now();
      expect(await statusOf(tokenOf(second))).toBe(403);
      for (const { ended } of [other, own])
        expect((await ended) - suspendedAt).toBeLessThan(soonMs);
      await lab.scenario.admin('DELETE', `/api-keys/${person.keyId}`);
      expect(await statusOf(tokenOf(second))).toBe(401);
    } finally {
      person = mine;
    }
  });

  it('works while the control plane is away, once it was seen, and so after a restart of the gateway', async () => {
    const host = new Host();
    await (await connectOne(host)).close();
    const { stack } = lab.scenario;
    await stack.part('control-plane').kill();
    try {
      expect(await statusOf(tokenOf(host))).toBe(200);
      const dead = await ask(`${tokenOf(host).slice(0, -8)}AAAAAAAA`, 'initialize');
      expect(dead.status).toBe(401);
      await stack.part('gateway').stop();
      await stack.part('gateway').start();
      expect(await statusOf(tokenOf(host))).toBe(200);
    } finally {
      await stack.part('control-plane').start();
    }
  });
});
