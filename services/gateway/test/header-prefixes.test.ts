import { json } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatBody, chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';

/** The first gateway knows an alias beside x-service-; the second has another prefix instead. */
const aliased = 0;
const renamed = 1;

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({
    gateways: 2,
    environment: {
      gateway: { HEADER_PREFIX_ALIASES: 'x-portkey-,x-other-' },
      'gateway-2': { HEADER_PREFIX: 'x-acme-' },
    },
  });
});
afterAll(() => scenario.stop());
beforeEach(() => scenario.upstream.handle(json(200, chatReply)));

/** A client that knows no prefix but its own. */
function client(gateway: number, prefix: string) {
  const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    fetch(`${scenario.stack.gatewayUrls[gateway]}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [
            name.startsWith('-') ? `${prefix}${name.slice(1)}` : name,
            value,
          ]),
        ),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  const direct = () => ({
    '-api-key': scenario.stack.credentials.workspace_key,
    '-provider': 'openai',
    '-custom-host': `${scenario.upstream.url}/v1`,
    authorization: 'Bearer sk-upstream',
  });
  return {
    send,
    chat: (headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
      send('POST', path, { ...direct(), ...headers }, chatBody),
    admin: (method: string, path: string, body?: unknown) =>
      send(method, `/v1${path}`, { '-api-key': scenario.stack.credentials.admin_key }, body),
  };
}

function namesUnder(response: Response, prefix: string): string[] {
  return [...response.headers.keys()]
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .sort();
}

const everyReply = ['cache-status', 'request-id', 'retry-attempt-count', 'trace-id'];

describe.each([
  ['an alias', aliased, 'x-portkey-', ['x-service-']],
  ['the prefix that is set', renamed, 'x-acme-', []],
])('a client that uses %s', (_name, gateway, prefix, besides) => {
  const own = client(gateway, prefix);

  it('calls models, and gets every header of ours under its prefix', async () => {
    const response = await own.chat({ '-trace-id': 'trace-7', '-metadata': '{"_user":"u"}' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(chatReply);
    expect(response.headers.get(`${prefix}trace-id`)).toBe('trace-7');
    expect(response.headers.get(`${prefix}provider`)).toBe('openai');
    const names = namesUnder(response, prefix);
    expect(names).toEqual(expect.arrayContaining(everyReply));
    for (const other of besides) expect(namesUnder(response, other)).toEqual(names);
    for (const other of ['x-service-', 'x-other-', 'x-acme-'].filter(
      (name) => name !== prefix && !(besides as string[]).includes(name),
    ))
      expect(namesUnder(response, other)).toEqual([]);
  });

  it('is told of faults in its own words', async () => {
    const response = await own.chat({ '-config': '{oops' });
    expect(namesUnder(response, prefix)).toEqual(expect.arrayContaining(everyReply));
    expect(await errorOf(response)).toMatchObject({
      status: 400,
      code: 'config.invalid',
      param: `${prefix}config`,
      message: expect.stringContaining(`${prefix}config is not valid JSON`),
    });
    const timeout = await errorOf(await own.chat({ '-request-timeout': 'soon' }));
    expect(timeout).toMatchObject({ status: 400, param: `${prefix}request-timeout` });
  });

  it('meets the loop check of the forward list under its prefix', async () => {
    const before = scenario.upstream.requests.length;
    const looping = await own.chat({ '-forward-headers': `x-team, ${prefix}forward-headers` });
    expect(await errorOf(looping)).toMatchObject({
      status: 400,
      code: 'request.invalid_header',
      param: `${prefix}forward-headers`,
    });
    expect(scenario.upstream.requests).toHaveLength(before);
    const forwarded = await own.chat({
      '-forward-headers': `x-team, ${prefix}metadata`,
      '-metadata': '{"a":"b"}',
      'x-team': 'blue',
    });
    expect(forwarded.status).toBe(200);
    const { headers } = await scenario.upstream.received(before + 1);
    expect(headers['x-team']).toBe('blue');
    expect(Object.keys(headers).filter((name) => /^x-(?!team)/.test(name))).toEqual([]);
  });

  it('leaks nothing of ours upstream on pass-through', async () => {
    const before = scenario.upstream.requests.length;
    const response = await own.chat(
      {
        '-metadata': '{"a":"b"}',
        '-trace-id': 't',
        '-default-input-guardrails': '[]',
        'x-own': '1',
      },
      '/v1/proxy/anything',
    );
    expect(response.status).toBe(200);
    const { headers } = await scenario.upstream.received(before + 1);
    expect(headers['x-own']).toBe('1');
    expect(headers.authorization).toBe('Bearer sk-upstream');
    expect(
      Object.keys(headers).filter((name) => /^x-(service|portkey|other|acme)-/.test(name)),
    ).toEqual([]);
  });

  it('uses the admin API through the gateway', async () => {
    const created = await own.admin('POST', '/api-keys/workspace/service', {
      name: `made with ${prefix}`,
      scopes: ['completions.write'],
      workspace_id: scenario.stack.credentials.workspace_id,
    });
    expect(created.status).toBe(200);
    expect(namesUnder(created, prefix)).toEqual(['request-id']);
    const { key } = (await created.json()) as { key: string };
    expect((await own.chat({ '-api-key': key })).status).toBe(200);
    const refused = await own.send('GET', '/v1/configs', { '-api-key': 'sl_wrong' });
    expect(refused.status).toBe(401);
    expect(namesUnder(refused, prefix)).toEqual(['request-id']);
  });

  it('sends paths that are also the admin API’s to the provider it names', async () => {
    const response = await own.chat({}, '/v1/collections');
    expect(await response.json()).toEqual(chatReply);
  });

  it('gets a 404 for no route', async () => {
    const response = await own.send('GET', '/nowhere', { '-api-key': 'x' });
    expect(response.status).toBe(404);
    expect(namesUnder(response, prefix)).toEqual(['request-id']);
  });

  it('sees none of the headers an upstream sends under a prefix of ours', async () => {
    scenario.upstream.handle(
      json(200, chatReply, {
        [`${prefix}trace-id`]: 'theirs',
        [`${prefix}forged`]: '1',
        'x-service-forged': '1',
        'x-upstream': 'yes',
      }),
    );
    const response = await own.chat({ '-trace-id': 'ours' });
    expect(response.headers.get(`${prefix}trace-id`)).toBe('ours');
    expect(response.headers.get('x-upstream')).toBe('yes');
    expect(namesUnder(response, prefix)).not.toContain('forged');
    expect(namesUnder(response, 'x-service-')).not.toContain('forged');
  });
});

describe('precedence', () => {
  it('the main prefix wins over an alias, and the first alias over the next', async () => {
    const own = client(aliased, 'x-service-');
    const both = await own.chat({ '-trace-id': 'main', 'x-portkey-trace-id': 'alias' });
    expect(both.headers.get('x-service-trace-id')).toBe('main');
    expect(both.headers.get('x-portkey-trace-id')).toBe('main');
    const aliases = await own.chat({ 'x-other-trace-id': 'two', 'x-portkey-trace-id': 'one' });
    expect(aliases.headers.get('x-service-trace-id')).toBe('one');
    expect(aliases.headers.get('x-other-trace-id')).toBe('one');
  });

  it('who uses the main prefix too is told of faults with the main prefix', async () => {
    const response = await client(aliased, 'x-service-').chat({ 'x-portkey-config': '{oops' });
    expect(await errorOf(response)).toMatchObject({ param: 'x-service-config' });
  });

  it('who uses x-service- alone gets replies under no other', async () => {
    const response = await client(aliased, 'x-service-').chat();
    expect(namesUnder(response, 'x-service-')).toEqual(expect.arrayContaining(everyReply));
    expect(namesUnder(response, 'x-portkey-')).toEqual([]);
  });
});

describe('x-service- where another prefix is set', () => {
  const foreign = client(renamed, 'x-service-');

  it('names no key', async () => {
    expect(
      await errorOf(
        await foreign.send(
          'POST',
          '/v1/chat/completions',
          {
            '-api-key': scenario.stack.credentials.workspace_key,
          },
          chatBody,
        ),
      ),
    ).toMatchObject({ status: 401, code: 'auth.missing_key' });
    expect((await foreign.admin('GET', '/configs')).status).toBe(401);
  });

  it('decides nothing beside headers that are ours', async () => {
    const response = await client(renamed, 'x-acme-').chat({
      'x-service-config': '{oops',
      'x-service-trace-id': 'not ours',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-acme-trace-id')).not.toBe('not ours');
    expect(namesUnder(response, 'x-service-')).toEqual([]);
  });
});
