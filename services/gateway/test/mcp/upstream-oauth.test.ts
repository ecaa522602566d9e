import { setTimeout as delay } from 'node:timers/promises';
import {
  Client as NewerClient,
  StreamableHTTPClientTransport as NewerTransport,
} from '@modelcontextprotocol/client';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import {
  Browser,
  eventually,
  type OauthServer,
  signInUpstream,
  startOauthServer,
} from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import {
  inTurn,
  type McpLab,
  type Person,
  peopleOf,
  type SavedServer,
  startMcpLab,
} from './mcp-lab.ts';

/** Servers that want an OAuth token, of the gateway itself or of each user: two gateways, one control plane, one authorisation server. */
let lab: McpLab;
let as: OauthServer;
let upstream: LegacyUpstream;
const log: FixtureLog = { writes: 0, cancelled: 0 };
const client = { client_id: 'sluice', client_secret: 's3cret-of-the-client' };

beforeAll(async () => {
  as = await startOauthServer();
  as.clients.set(client.client_id, { secret: client.client_secret, redirectUris: [] });
  [lab, upstream] = await Promise.all([
    startMcpLab({ gateways: 2 }),
    startLegacyUpstream({
      makeServer: () => fixtureServer(log),
      guard: (req, res) => as.guard(req, res),
    }),
  ]);
  as.resource = upstream.url;
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
  await as?.close();
});
const usual = { lastsSeconds: 3600, tokenStatus: 200, tokenDelayMs: 0, neededScope: '' };
beforeEach(() => {
  Object.assign(as.settings, usual);
  as.tokenRequests.length = 0;
  upstream.requests.length = 0;
});

const save = (metadata: object = client) =>
  lab.save({
    url: upstream.url,
    authType: 'oauth_client_credentials',
    configurations: { oauth_metadata: metadata },
  });

const headersOf = (result: unknown) =>
  JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? '{}');

describe('oauth_client_credentials', () => {
  it('sends one token with all that a client does, through two gateways in turn', async () => {
    const { slug } = await save();
    as.settings.tokenDelayMs = 200;
    const connected = await Promise.all(Array.from({ length: 6 }, () => lab.connect(slug)));
    const { client: mcp } = connected[0]!;
    await mcp.listTools();
    const told = headersOf(await mcp.callTool({ name: 'headers', arguments: {} }));
    await mcp.listPrompts();
    await mcp.getPrompt({ name: 'greet', arguments: { who: 'you' } });
    await mcp.readResource({ uri: 'test://one' });
    await mcp.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: 'y' },
    });
    await connected[0]!.transport.terminateSession();
    expect(as.tokenRequests).toHaveLength(1);
    expect(as.tokenRequests[0]?.form).toEqual({
      grant_type: 'client_credentials',
      resource: upstream.url,
      scope: 'tools',
    });
    expect(told.authorization).toBe(`Bearer ${as.given.at(-1)}`);
    const sent = new Set(
      upstream.requests
        .filter(({ body, headers }) => body?.method !== 'ping' && headers.host !== undefined)
        .filter(({ method }) => ['POST', 'GET', 'DELETE'].includes(method))
        .filter(({ headers }) => headers.accept !== 'application/json')
        .map(({ headers }) => headers.authorization),
    );
    expect([...sent]).toEqual([`Bearer ${as.given.at(-1)}`]);
    const methods = new Set(upstream.requests.map(({ method, body }) => body?.method ?? method));
    for (const each of ['GET', 'DELETE', 'tools/call', 'completion/complete', 'resources/read'])
      expect([...methods]).toContain(each);
  });

  it('forgets a token that the server does not take, and asks for one other whoever notices', async () => {
    const { slug } = await save();
    const { client: mcp } = await lab.connect(slug);
    await mcp.listTools();
    await mcp.listTools();
    expect(as.tokenRequests).toHaveLength(1);
    as.revoked.add(as.given.at(-1) ?? '');
    as.settings.tokenDelayMs = 300;
    await Promise.all(Array.from({ length: 8 }, () => mcp.listTools()));
    expect(as.tokenRequests).toHaveLength(2);
  });

  it('works on with what it holds while the authorisation server fails, until that expires', async () => {
    const lastsSeconds = 12;
    const mcp = await eventually(async () => {
      Object.assign(as.settings, { ...usual, lastsSeconds });
      const { slug } = await save();
      const beganAt = performance.now();
      const { client } = await lab.connect(slug);
      await client.listTools();
      await client.listTools();
      as.settings.tokenStatus = 500;
      // Asked for anew from here on.
      await delay(lastsSeconds * 800 + 100);
      await client.listTools();
      await client.listTools();
      // A machine that was busy until the token had expired begins again.
      return performance.now() - beganAt < lastsSeconds * 1000 && client;
    });
    await delay(lastsSeconds * 200);
    await expect(mcp.listTools()).rejects.toThrow(/has no token for the MCP server/);
  });

  it('tells a client why there is none, without what was said, and asks no more than now and then', async () => {
    const { slug } = await save({ ...client, client_secret: 'wrong' });
    const [first = ''] = lab.urls(slug);
    const begin = async () => {
      const answer = await fetch(first, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 'a',
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'c', version: '1' },
          },
        }),
      });
      return { status: answer.status, body: await answer.json() };
    };
    expect(await begin()).toEqual({
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 'a',
        error: {
          code: -32603,
          message:
            'The gateway has no token for the MCP server: The token endpoint refused: invalid_client.',
          data: { reason: 'upstream_sign_in', error: 'invalid_client' },
        },
      },
    });
    for (let time = 0; time < 5; time++) await begin();
    expect(as.tokenRequests).toHaveLength(1);
    expect(upstream.requests.filter(({ body }) => body?.method === 'initialize')).toEqual([]);
  });
});

const newPeople = (count: number) => peopleOf(lab, count);

const base = () => lab.scenario.stack.gatewayUrls[0] ?? '';
const saveAuto = () => lab.save({ url: upstream.url, authType: 'oauth_auto' });
const addressOf = ({ id }: SavedServer) => `${base()}/oauth/upstream-auth?server=${id}`;

/** The same, at whichever gateway. */
const placeOf = ({ id }: SavedServer) => new RegExp(`/oauth/upstream-auth\\?server=${id}$`);

async function signIn(server: SavedServer, { key, account }: Person) {
  const page = await signInUpstream(new Browser(base()), addressOf(server), key, account);
  expect(page.html).toContain('You are signed in');
}

const whoseToken = (headers: { authorization?: string }) =>
  as.tokens.get(headers.authorization?.slice(7) ?? '')?.account;

describe('oauth_auto', () => {
  it('tells where to sign in, and calls with the user’s own token as soon as they did', async () => {
    const server = await saveAuto();
    const [one, two] = (await newPeople(2)) as [Person, Person];
    const refused = await lab
      .connect(server.slug, { key: one.key })
      .catch((error: unknown) => error as StreamableHTTPError);
    expect(refused).toBeInstanceOf(StreamableHTTPError);
    expect((refused as StreamableHTTPError).code).toBe(401);
    const told = JSON.parse(/\{.*\}/.exec(String(refused))?.[0] ?? '{}');
    expect(told).toMatchObject({
      id: 0,
      error: {
        code: -32000,
        data: {
          type: 'oauth_required',
          authorizationUrl: expect.stringMatching(/\/oauth\/upstream-auth\?server=/),
          serverId: server.id,
          workspaceId: lab.scenario.stack.credentials.workspace_id,
        },
      },
    });
    await signIn(server, one);
    const { client: mcp, transport } = await lab.connect(server.slug, { key: one.key });
    upstream.requests.length = 0;
    await mcp.listTools();
    const seen = headersOf(await mcp.callTool({ name: 'headers', arguments: {} }));
    await mcp.getPrompt({ name: 'greet', arguments: { who: 'you' } });
    await mcp.readResource({ uri: 'test://one' });
    await mcp.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: 'y' },
    });
    await transport.terminateSession();
    expect(whoseToken(seen)).toBe(one.account);
    const sent = new Set(upstream.requests.map(({ headers }) => headers.authorization));
    expect([...sent]).toEqual([seen.authorization]);
    // Another user, and who is no user, have nothing of it.
    await expect(lab.connect(server.slug, { key: two.key })).rejects.toThrow(/oauth_required/);
    await expect(lab.connect(server.slug)).rejects.toThrow(/Each user signs in/);
    expect(new Set(upstream.requests.map(({ headers }) => headers.authorization))).toEqual(sent);
  });

  it('sends clients to the address that may be sent to one, in both eras', async () => {
    const server = await saveAuto();
    const [one, two] = (await newPeople(2)) as [Person, Person];
    const capabilities = { elicitation: { url: {} } };
    const connecting = lab.connect(server.slug, { key: one.key, capabilities });
    const asked = await connecting.catch((error: unknown) => error);
    expect(asked).toBeInstanceOf(UrlElicitationRequiredError);
    const [elicited] = (asked as UrlElicitationRequiredError).elicitations;
    expect(elicited).toMatchObject({ mode: 'url', url: expect.stringMatching(placeOf(server)) });
    await signIn(server, one);
    const { client: older } = await lab.connect(server.slug, { key: one.key, capabilities });
    // Signed out in the middle of a session: asked again there, and let on in the same session.
    await lab.scenario.admin(
      'DELETE',
      `/mcp-servers/${server.id}/connections?user_id=${one.userId}`,
    );
    await expect(older.listTools()).rejects.toMatchObject({ code: -32042 });
    await signIn(server, one);
    await older.listTools();

    const opened: string[] = [];
    await signIn(server, two);
    const newer = new NewerClient(
      { name: 'newer', version: '1' },
      { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    newer.setRequestHandler('elicitation/create', async ({ params }) => {
      opened.push(String((params as { url?: string }).url));
      await signIn(server, two);
      return { action: 'accept' as const };
    });
    const urls = lab.urls(server.slug);
    await newer.connect(
      new NewerTransport(new URL(urls[0] ?? ''), {
        fetch: inTurn(urls),
        requestInit: { headers: { 'x-service-api-key': two.key } },
      }),
    );
    await lab.scenario.admin(
      'DELETE',
      `/mcp-servers/${server.id}/connections?user_id=${two.userId}`,
    );
    const seen = headersOf(await newer.callTool({ name: 'headers', arguments: {} }));
    expect(opened).toEqual([expect.stringMatching(placeOf(server))]);
    expect(whoseToken(seen)).toBe(two.account);
    await newer.close();
  });

  it('never sends one of 24 users with another’s token, through renewals and refusals', async () => {
    const server = await saveAuto();
    const people = await newPeople(24);
    // At most so many keys are tried at once from one address.
    for (let at = 0; at < people.length; at += 8)
      await Promise.all(people.slice(at, at + 8).map((each) => signIn(server, each)));
    upstream.requests.length = 0;
    as.tokenRequests.length = 0;
    const wrong: string[] = [];
    await Promise.all(
      people.map(async ({ key, account }, at) => {
        const { client: mcp } = await lab.connect(server.slug, { key });
        for (let round = 0; round < 4; round += 1) {
          const seen = headersOf(await mcp.callTool({ name: 'headers', arguments: {} }));
          if (whoseToken(seen) !== account) wrong.push(`${account}: ${whoseToken(seen)}`);
          // Half of them are refused once, at both gateways at the same time.
          if (round === 1 && at % 2 === 0) {
            as.revoked.add(seen.authorization.slice(7));
            await Promise.all([mcp.listTools(), mcp.listTools(), mcp.listTools()]);
          }
        }
      }),
    );
    expect(wrong).toEqual([]);
    // Only these, and each once: streams of earlier tests that were cut and came back asked for tokens of their own here.
    const grants = as.tokenRequests.map(({ form }) => form.grant_type);
    expect(grants).toEqual(Array.from({ length: 12 }, () => 'refresh_token'));
    expect(as.replayed).toEqual([]);
    const mixed = upstream.requests.filter(
      ({ headers }) =>
        headers.authorization === undefined && headers['mcp-session-id'] !== undefined,
    );
    expect(mixed).toEqual([]);
  });

  it('is a member of a merged server as it is by itself: each user’s own token, and no tools before they signed in', async () => {
    const [auto, shared] = [await saveAuto(), await save()];
    const { slug } = await lab.merge([{ server_id: auto.id }, { server_id: shared.id }]);
    const [one, two] = (await newPeople(2)) as [Person, Person];
    await signIn(auto, one);
    const names = async (person: Person) => {
      const { client: mcp } = await lab.connect(slug, { key: person.key });
      const { tools } = await mcp.listTools();
      return { mcp, names: tools.map(({ name }) => name) };
    };
    const [first, second] = [await names(one), await names(two)];
    const ofAuto = (name: string) => name.startsWith(`${auto.slug}_`);
    expect(first.names.some(ofAuto)).toBe(true);
    expect(second.names.some(ofAuto)).toBe(false);
    expect(second.names.length).toBeGreaterThan(0);
    const name = `${auto.slug}_headers`;
    expect(whoseToken(headersOf(await first.mcp.callTool({ name })))).toBe(one.account);
    await expect(second.mcp.callTool({ name })).rejects.toThrow(/oauth_required|not found/);
    await signIn(auto, two);
    const again = await names(two);
    expect(whoseToken(headersOf(await again.mcp.callTool({ name })))).toBe(two.account);
  });

  it('asks to sign in anew when a server wants more, and leaves the rest as it is', async () => {
    const server = await saveAuto();
    const [one] = (await newPeople(1)) as [Person];
    await signIn(server, one);
    const { client: mcp } = await lab.connect(server.slug, { key: one.key });
    as.settings.scopes = ['tools', 'more'];
    as.settings.neededScope = 'more';
    await expect(mcp.listTools()).rejects.toThrow(/oauth_required/);
    as.settings.neededScope = '';
    await mcp.listTools();
    await signIn(server, one);
    as.settings.neededScope = 'more';
    await mcp.listTools();
    as.settings.scopes = ['tools'];
  });

  it('works on while the control plane is away', async () => {
    const server = await saveAuto();
    const [one, two] = (await newPeople(2)) as [Person, Person];
    await signIn(server, one);
    const connected = await lab.connect(server.slug, { key: one.key });
    for (let time = 0; time < 4; time += 1) await connected.client.listTools();
    const controlPlane = lab.scenario.stack.part('control-plane');
    await controlPlane.stop();
    await connected.client.listTools();
    await connected.client.listTools();
    await expect(lab.connect(server.slug, { key: two.key })).rejects.toThrow();
    await controlPlane.start();
  });
});
