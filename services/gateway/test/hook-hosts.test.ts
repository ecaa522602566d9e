import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from './lab.ts';
import { type DnsServer, startDns } from './outbound/dns-server.ts';
import { chatReply } from './scenario.ts';

/** Hosts that checks of a running gateway ask: servers of ours that hang, are slow, lie, or send too much. */
let lab: Lab;
let trial: Trial;
let dns: DnsServer;
let embedding: { provider: string; model: string };

const png = Buffer.from('89504e470d0a1a0a00', 'hex');
const heldMax = 1024 * 1024;
const hanging = new Set<ServerResponse>();
let openConnections = 0;
let asked: string[] = [];

const answer: RequestListener = (request, response) => {
  const path = request.url ?? '';
  asked.push(path);
  openConnections += 1;
  response.once('close', () => {
    openConnections -= 1;
    hanging.delete(response);
  });
  if (path.startsWith('/hang')) {
    hanging.add(response);
    return;
  }
  if (path === '/redirect') {
    response.writeHead(302, { location: '/picture.png' });
    response.end();
    return;
  }
  response.setHeader('content-type', 'image/png');
  if (path === '/page') response.end('<html>');
  else if (path === '/drip') {
    response.write(png);
    hanging.add(response);
  } else if (path.startsWith('/half'))
    response.end(Buffer.concat([png, Buffer.alloc(heldMax / 2)]));
  else if (path === '/huge') {
    // For ever, if it is let.
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
    };
    response.on('drain', more);
    response.write(png);
    more();
  } else response.end(png);
};

/** One for each kind: a host that fails five times in a row is left alone for a while. */
const kindsOfHosts = [
  'webhook',
  'partner',
  'keys',
  'introspect',
  'vectors',
  'pictures',
  'slow',
] as const;
const hosts = new Map(kindsOfHosts.map((kind) => [kind, createServer(answer)]));
const portOf = (kind: (typeof kindsOfHosts)[number]) =>
  (hosts.get(kind)!.address() as AddressInfo).port;
const hangsAt = (kind: (typeof kindsOfHosts)[number]) => `http://127.0.0.1:${portOf(kind)}/hang`;
const pictureAt = (path: string) =>
  `http://pictures.example.com:${portOf(path.startsWith('/hang') ? 'slow' : 'pictures')}${path}`;

beforeAll(async () => {
  for (const host of hosts.values())
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  dns = await startDns((_name, family) => (family === 4 ? ['127.0.0.1'] : []));
  lab = await startLab({
    environment: {
      gateway: {
        DNS_SERVERS: `127.0.0.1:${dns.port}`,
        TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost',
        TRUSTED_CALLER_HOSTS: '127.0.0.1,localhost,pictures.example.com',
        HELD_BODY_BYTES_MAX: String(heldMax),
        SEMANTIC_CACHE_EMBEDDING_TIMEOUT: '60000',
      },
    },
  });
  trial = lab.trial();
  embedding = {
    provider: await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: `${hangsAt('vectors')}/v1`,
    }),
    model: 'text-embedding-3-small',
  };
  lab.scenario.upstream.handle(() => json(200, chatReply));
});
afterAll(async () => {
  for (const response of hanging) response.destroy();
  await trial?.close();
  await lab?.stop();
  dns?.close();
  for (const host of hosts.values()) host.close();
});

function ask(guardrail: object, more: { content?: unknown; headers?: object } = {}) {
  const { content = 'Hello', headers } = more;
  return trial.ask({
    config: {
      provider: 'openai',
      api_key: 'sk-upstream',
      custom_host: `${lab.scenario.upstream.url}/v1`,
      strict_open_ai_compliance: false,
      input_guardrails: [guardrail],
    },
    headers: { ...headers },
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
    records: 1,
  });
}

interface Told {
  hook_results?: { before_request_hooks: { checks: { error?: { name: string } }[] }[] };
}

const errorIn = (body: unknown) =>
  (body as Told).hook_results?.before_request_hooks[0]?.checks[0]?.error?.name;

async function deadlinesMissed(): Promise<number> {
  const text = await (await fetch(lab.scenario.stack.gatewayMetricsUrl)).text();
  return Number(
    /^sluice_guardrail_errors(?:_total)?\{[^}]*error="DeadlineExceeded"[^}]*\} (\d+)/m.exec(
      text,
    )?.[1] ?? 0,
  );
}

const picture = (path: string) => [{ type: 'image_url', image_url: { url: pictureAt(path) } }];
const token = ['{"alg":"RS256","kid":"a","typ":"JWT"}', '{"sub":"a","exp":4102444800}', 'x']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.');
const timeout = 300;

describe('a check whose host hangs', () => {
  const kinds: [string, (more: object) => object, { content?: unknown; headers?: object }?][] = [
    [
      'webhook',
      (more) => ({ 'default.webhook': { webhookURL: hangsAt('webhook'), timeout, ...more } }),
    ],
    [
      'partner',
      (more) => ({
        'lakera.guard': {
          credentials: { apiKey: 'k', baseURL: hangsAt('partner') },
          timeout,
          ...more,
        },
      }),
    ],
    [
      'jwt, the keys of its issuer',
      (more) => ({
        'default.jwt': { jwksUri: hangsAt('keys'), headerKey: 'x-token', timeout, ...more },
      }),
      { headers: { 'x-token': `Bearer ${token}` } },
    ],
    [
      'jwt, introspection',
      (more) => ({
        'default.jwt': {
          introspectEndpoint: hangsAt('introspect'),
          introspectContentType: 'application/json',
          headerKey: 'x-token',
          timeout,
          ...more,
        },
      }),
      { headers: { 'x-token': `Bearer ${token}` } },
    ],
    [
      'picture',
      (more) => ({ 'default.inlineImageUrls': { timeoutMs: timeout, ...more } }),
      {
        get content() {
          return picture('/hang/picture');
        },
      },
    ],
    [
      'embedding',
      (more) => ({
        'default.bannedTopics': {
          topics: [{ name: 'war', examples: ['They fight a war.'] }],
          similarity: 0.8,
          embedding,
          timeout,
          ...more,
        },
      }),
    ],
  ];

  it.each(kinds)('%s ends at its deadline, and follows failOnError', async (what, check, more) => {
    const before = await deadlinesMissed();
    const passed = await ask({ id: 'asks', deny: true, ...check({}) }, more);
    expect(passed.answer.status, passed.answer.text).toBe(200);
    expect(errorIn(passed.answer.json)).toBe('DeadlineExceeded');
    const failed = await ask({ id: 'asks', deny: true, ...check({ failOnError: true }) }, more);
    expect(failed.answer.status, failed.answer.text).toBe(446);
    expect(errorIn(failed.answer.json)).toBe('DeadlineExceeded');
    for (const [{ answer, rawRecords }, verdict] of [
      [passed, true],
      [failed, false],
    ] as const) {
      expect(answer.elapsedMs).toBeGreaterThan(timeout * 0.9);
      expect(answer.elapsedMs).toBeLessThan(timeout + 5_000);
      const { hooks } = JSON.parse(rawRecords.at(-1)?.decisionJson ?? '{}');
      expect(hooks, what).toMatchObject([
        { id: 'asks', verdict, errors: [{ error: 'DeadlineExceeded' }] },
      ]);
    }
    await eventually(async () =>
      expect(await deadlinesMissed()).toBeGreaterThanOrEqual(before + 2),
    );
    // Nobody goes on waiting behind the deadline.
    await eventually(() => hanging.size === 0);
  });
});

describe('pictures that are put into requests', () => {
  const inlines = { id: 'inlines', deny: true, 'default.inlineImageUrls': { failOnError: true } };
  const sent = () => String(lab.scenario.upstream.requests.at(-1)?.body);

  it('reach the provider in place of their addresses', async () => {
    const { answer } = await ask(inlines, { content: picture('/picture.png') });
    expect(answer.status, answer.text).toBe(200);
    expect(sent()).toContain(`data:image/png;base64,${png.toString('base64')}`);
  });

  it.each(['/redirect', '/page', '/huge'])(
    'are refused where the host answers with %s',
    async (path) => {
      asked = [];
      const { answer } = await ask(inlines, { content: picture(path) });
      expect(answer.status).toBe(446);
      expect(errorIn(answer.json)).toBe('HostFailed');
      // A redirect is not followed.
      expect(asked).toEqual([path]);
      await eventually(() => openConnections === 0);
    },
  );

  it('are given up where they come too slowly', async () => {
    const slow = { ...inlines, 'default.inlineImageUrls': { failOnError: true, timeoutMs: 300 } };
    const { answer } = await ask(slow, { content: picture('/drip') });
    expect([answer.status, errorIn(answer.json)]).toEqual([446, 'DeadlineExceeded']);
    await eventually(() => openConnections === 0);
  });

  it('count among the bodies that all requests hold, until each is over', async () => {
    const both = [...picture('/half'), ...picture('/half?again')];
    const half = await ask(inlines, { content: picture('/half') });
    expect(half.answer.status).toBe(200);
    const { answer } = await ask(inlines, { content: both });
    expect([answer.status, errorIn(answer.json)]).toEqual([446, 'HostFailed']);
    expect(answer.text).toContain('no room');
    // Nothing of it stays behind.
    for (let time = 0; time < 3; time++) {
      const again = await ask(inlines, { content: picture('/half') });
      expect(again.answer.status).toBe(200);
    }
  });
});
