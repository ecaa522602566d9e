import { generateKeyPairSync, sign } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CheckContext, CheckError, type HostAnswer, type HostQuestion } from './check.ts';
import { checkKinds } from './check-kinds.ts';
import { answering, asking, exampleContext } from './example-contexts.ts';

/** A host that answers so, and what it was asked. */
function host(answer: (question: HostQuestion) => { status?: number; body?: unknown } | Error) {
  const asked: HostQuestion[] = [];
  const ask = async (question: HostQuestion): Promise<HostAnswer> => {
    asked.push(question);
    const given = answer(question);
    if (given instanceof Error) throw given;
    const { status = 200, body = {} } = given;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return { status, headers: {}, body: Buffer.from(text) };
  };
  return { ask, asked };
}

async function outcomeOf(id: string, parameters: object, context: CheckContext) {
  try {
    return await checkKinds.get(id)?.compile(parameters).run(context);
  } catch (error) {
    if (error instanceof CheckError) return error.name;
    throw error;
  }
}

async function verdictOf(id: string, parameters: object, context: CheckContext) {
  const outcome = await outcomeOf(id, parameters, context);
  return typeof outcome === 'object' ? outcome.verdict : outcome;
}

const away = new CheckError('HostFailed', 'away');
const secret = { authorization: 'Bearer of-the-caller' };

describe('default.webhook', () => {
  const parameters = {
    webhookURL: 'https://hooks.example/check',
    headers: { 'x-key': 'k' },
    forwardHeaders: ['x-tenant'],
  };

  it.each([
    ['yes', { body: { verdict: true } }, true],
    ['no', { body: { verdict: false } }, false],
    ['no verdict', { body: {} }, 'HostFailed'],
    ['a verdict that is a text', { body: { verdict: 'true' } }, 'HostFailed'],
    ['no JSON', { body: 'yes' }, 'HostFailed'],
    ['a list', { body: [true] }, 'HostFailed'],
    ['an error', { status: 500, body: { verdict: true } }, 'HostFailed'],
    ['a redirect', { status: 302, body: { verdict: true } }, 'HostFailed'],
    ['nothing', away, 'HostFailed'],
  ])('takes %s', async (_what, answer, expected) => {
    const { ask } = host(() => answer);
    expect(await verdictOf('default.webhook', parameters, { ...asking('hi'), ask })).toBe(expected);
  });

  it('tells the request and the answer, and no header of the caller', async () => {
    const { ask, asked } = host(() => ({ body: { verdict: true } }));
    const metadata = { team: 'red' };
    await outcomeOf('default.webhook', parameters, {
      ...answering('Yes.'),
      ask,
      headers: secret,
      metadata,
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      url: 'https://hooks.example/check',
      headers: { 'x-key': 'k' },
      forwardHeaders: ['x-tenant'],
      body: {
        request: { json: { model: 'm' }, text: 'hello', isStreamingRequest: false },
        response: { text: 'Yes.', statusCode: 200 },
        provider: 'openai',
        requestType: 'chatComplete',
        metadata,
        eventType: 'afterRequestHook',
      },
    });
    expect(JSON.stringify(asked)).not.toContain('of-the-caller');
  });

  it('sends headers that are written as text', async () => {
    const { ask, asked } = host(() => ({ body: { verdict: true } }));
    const written = { ...parameters, headers: '{"x-key":"other"}' };
    await outcomeOf('default.webhook', written, { ...asking('hi'), ask });
    expect(asked[0]?.headers).toEqual({ 'x-key': 'other' });
  });

  it('puts another document in place of the event’s own, and of no other', async () => {
    const both = {
      request: { json: { model: 'other' } },
      response: { json: { choices: [] } },
    };
    const { ask } = host(() => ({ body: { verdict: true, transformedData: both } }));
    const before = await outcomeOf('default.webhook', parameters, { ...asking('hi'), ask });
    expect(before).toMatchObject({ request: { model: 'other' } });
    expect(before).not.toHaveProperty('response');
    const after = await outcomeOf('default.webhook', parameters, { ...answering('hi'), ask });
    expect(after).toMatchObject({ response: { choices: [] } });
    expect(after).not.toHaveProperty('request');
  });

  it.each([null, 'text', [], { request: null }, { request: { json: 'x' } }])(
    'leaves the document alone for %j',
    async (transformedData) => {
      const { ask } = host(() => ({ body: { verdict: true, transformedData } }));
      const outcome = await outcomeOf('default.webhook', parameters, { ...asking('hi'), ask });
      expect(outcome).toMatchObject({ verdict: true });
      expect(outcome).not.toHaveProperty('request');
    },
  );
});

describe('default.log', () => {
  const parameters = { logURL: 'https://logs.example/in', headers: '{"x-key":"k"}' };

  it.each([
    ['accepted', { status: 204, body: '' }, true],
    ['refused', { status: 403 }, 'HostFailed'],
    ['away', away, 'HostFailed'],
  ])('%s', async (_what, answer, expected) => {
    const { ask, asked } = host(() => answer);
    const context = { ...answering('Yes.'), ask, headers: secret };
    expect(await verdictOf('default.log', parameters, context)).toBe(expected);
    expect(asked[0]).toMatchObject({
      headers: { 'x-key': 'k' },
      body: { response: { text: 'Yes.' } },
    });
    expect(JSON.stringify(asked)).not.toContain('of-the-caller');
  });
});

describe('default.validUrls', () => {
  const web = host(({ url }) => {
    if (url.includes('away')) return away;
    return { status: url.includes('gone') ? 404 : url.includes('moved') ? 301 : 204 };
  });

  it.each([
    ['all answer', {}, 'See https://a.example.com/x and http://b.example.com.', true],
    ['one is gone', {}, 'https://a.example.com https://a.example.com/gone', false],
    [
      'one is gone, turned',
      { not: true },
      'https://a.example.com https://a.example.com/gone',
      true,
    ],
    ['all answer, turned', { not: true }, 'https://a.example.com', false],
    ['a redirect is no answer', {}, 'https://a.example.com/moved', false],
    ['nobody there', {}, 'https://away.example.com', false],
    ['no URL', {}, 'none', false],
    ['no URL, turned', { not: true }, 'none', false],
    ['no text', {}, '', 'NothingToCheck'],
    [
      'more than anybody refers to',
      {},
      Array.from({ length: 21 }, (_, at) => `https://a.example.com/${at}`).join(' '),
      'TextTooLong',
    ],
  ])('%s', async (_what, parameters, text, expected) => {
    const context = { ...answering(text), ask: web.ask };
    expect(await verdictOf('default.validUrls', parameters, context)).toBe(expected);
  });

  it('leaves out what closes the sentence, and keeps brackets of the URL', async () => {
    const { ask, asked } = host(() => ({}));
    const text =
      '(https://a.example.com/x_(y)), <https://b.example.com/?q=1>. **https://c.example.com/**';
    await outcomeOf('default.validUrls', {}, { ...answering(text), ask });
    expect(asked.map(({ url, method }) => `${method} ${url}`)).toEqual([
      'HEAD https://a.example.com/x_(y)',
      'HEAD https://b.example.com/?q=1',
      'HEAD https://c.example.com/',
    ]);
  });

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://localhost/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://metadata.google.internal/',
    'http://db.local./',
    'https://user@intranet/',
  ])('asks no private host that a text names: %s', async (url) => {
    const { ask, asked } = host(() => ({}));
    for (const onlyDNS of [false, true])
      expect(await verdictOf('default.validUrls', { onlyDNS }, { ...answering(url), ask })).toBe(
        false,
      );
    expect(asked).toEqual([]);
  });
});

describe('default.jwt', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' }] };
  const nowS = Math.floor(Date.now() / 1000);
  const valid = { sub: 'ada', iat: nowS, exp: nowS + 600, role: ['admin', 'dev'], kid: 'k' };

  function token(claims: object = {}, header: object = {}): string {
    const parts = [
      { alg: 'RS256', kid: 'k', ...header },
      { ...valid, ...claims },
    ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    const signed = parts.join('.');
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  const carrying = (authorization?: string) =>
    exampleContext({ headers: authorization === undefined ? {} : { authorization } });
  let genuine = '';
  beforeAll(() => {
    genuine = token();
  });

  it('takes what the issuer signed, with and without Bearer', async () => {
    expect(await verdictOf('default.jwt', { jwks }, carrying(genuine))).toBe(true);
    expect(await verdictOf('default.jwt', { jwks }, carrying(`Bearer ${genuine}`))).toBe(true);
  });

  it.each([
    ['no header', {}, undefined],
    ['no token', {}, 'Bearer '],
    ['something else', {}, 'Bearer sk-123'],
    ['another signature', {}, `${token().slice(0, -8)}AAAAAAAA`],
    ['another algorithm', { algorithms: ['ES256'] }, token()],
    ['an unsigned token', { algorithms: ['none'] }, token({}, { alg: 'none' })],
    ['an unknown key', {}, token({}, { kid: 'x' })],
    ['one that is over', {}, token({ exp: nowS - 60 })],
    ['one that is too old', { maxTokenAge: '1h' }, token({ iat: nowS - 7200 })],
    ['one from the future', {}, token({ iat: nowS + 3600 })],
    ['a claim that is missing', { requiredClaims: ['email'] }, token()],
    ['an inherited name', { requiredClaims: ['toString'] }, token()],
    ['another value', { claimValues: { role: { values: ['owner'] } } }, token()],
    [
      'not all values',
      { claimValues: { role: { values: ['admin', 'x'], matchType: 'containsAll' } } },
      token(),
    ],
    ['another pattern', { claimValues: { sub: { values: '^b', matchType: 'regex' } } }, token()],
    ['header and payload apart', { headerPayloadMatch: ['kid'] }, token({ kid: 'other' })],
    ['a claim that neither has', { headerPayloadMatch: ['iss'] }, token()],
    ['a token in another header', { headerKey: 'X-Token' }, token()],
  ])('refuses %s', async (_what, parameters, header) => {
    expect(await verdictOf('default.jwt', { jwks, ...parameters }, carrying(header))).toBe(false);
  });

  it.each([
    ['within the tolerance', { clockTolerance: 120 }, token({ exp: nowS - 60 })],
    ['required claims', { requiredClaims: ['sub', 'role'] }, token()],
    ['an exact value of a list', { claimValues: { role: { values: ['dev'] } } }, token()],
    ['a part', { claimValues: { sub: { values: 'ad', matchType: 'contains' } } }, token()],
    ['a pattern', { claimValues: { sub: { values: ['^a'], matchType: 'regex' } } }, token()],
    ['header and payload alike', { headerPayloadMatch: ['kid'] }, token()],
  ])('takes %s', async (_what, parameters, header) => {
    expect(await verdictOf('default.jwt', { jwks, ...parameters }, carrying(header))).toBe(true);
  });

  it('tells the claims that are asked for', async () => {
    const outcome = await outcomeOf(
      'default.jwt',
      { jwks, extractClaims: ['sub', 'role', 'none'] },
      carrying(genuine),
    );
    expect(outcome).toMatchObject({
      data: { extractedClaims: { 'x-jwt-sub': 'ada', 'x-jwt-role': 'admin,dev' } },
    });
  });

  it('fetches keys once, and once more for a key that it does not know', async () => {
    const { ask, asked } = host(() => ({ body: jwks }));
    const check = checkKinds.get('default.jwt')?.compile({ jwksUri: 'https://id.example/jwks' });
    const run = async (header: string) => (await check?.run({ ...carrying(header), ask }))?.verdict;
    expect(await Promise.all([run(genuine), run(genuine)])).toEqual([true, true]);
    expect(await run(genuine)).toBe(true);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ url: 'https://id.example/jwks', method: 'GET' });
    expect(await run(token({}, { kid: 'new' }))).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it('cannot decide when nobody gives keys', async () => {
    const { ask } = host(() => ({ status: 500 }));
    const parameters = { jwksUri: 'https://id.example/jwks' };
    expect(await verdictOf('default.jwt', parameters, { ...carrying(genuine), ask })).toBe(
      'HostFailed',
    );
  });

  it.each([
    ['active', { body: { active: true, sub: 'ada' } }, true],
    ['not active', { body: { active: false } }, false],
    ['over', { body: { active: true, exp: 1 } }, false],
    ['no answer', { status: 500 }, 'HostFailed'],
  ])('asks the issuer of any token: %s', async (_what, answer, expected) => {
    const { ask, asked } = host(() => answer);
    const parameters = {
      introspectEndpoint: 'https://id.example/introspect',
      requiredClaims: ['sub'],
      introspectCacheMaxAge: 60,
    };
    const check = checkKinds.get('default.jwt')?.compile(parameters);
    const run = async () => {
      try {
        return (await check?.run({ ...carrying('opaque-1'), ask }))?.verdict;
      } catch (error) {
        return error instanceof CheckError ? error.name : error;
      }
    };
    expect(await run()).toBe(expected);
    expect(asked[0]?.body).toBe('token=opaque-1');
    await run();
    expect(asked).toHaveLength(expected === true ? 1 : 2);
  });
});
