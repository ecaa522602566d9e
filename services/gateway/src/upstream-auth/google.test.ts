import { generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import {
  endAll,
  exampleAuthoriser,
  exampleCall,
  failureOf,
  startTokenServer,
} from '../../test/authorisation.ts';

afterEach(endAll);

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const secretOf = pem.split('\n')[2] as string;
const account = (over: object = {}) =>
  JSON.stringify({
    type: 'service_account',
    client_email: 'robot@project.iam.gserviceaccount.com',
    private_key: pem,
    private_key_id: 'key-7',
    ...over,
  });
const google = { recipe: { type: 'google' } } as const;
const jsonSetting = 'vertex-service-account-json';

const tokens = (expiresIn: unknown = 3600) =>
  startTokenServer((_asked, number) => ({
    body: { access_token: `ya29.token-${number}`, expires_in: expiresIn, token_type: 'Bearer' },
  }));

describe('a service account', () => {
  it('states who it is, signed by its key, and sends the token it gets for that', async () => {
    const server = await tokens();
    const authoriser = exampleAuthoriser();
    const json = account({ token_uri: `${server.url}/token` });
    const sent = await authoriser.authorise(
      exampleCall({
        ...google,
        settings: { [jsonSetting]: json },
        headers: { 'x-goog-api-key': 'of the caller' },
      }),
    );
    expect(sent.headers).toEqual({ authorization: 'Bearer ya29.token-1' });
    const [asked] = server.asked;
    expect(asked?.form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(
      asked?.form.get('assertion') ?? '',
      publicKey,
      { currentDate: new Date(authoriser.nowMs) },
    );
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-7' });
    expect(payload).toEqual({
      iss: 'robot@project.iam.gserviceaccount.com',
      sub: 'robot@project.iam.gserviceaccount.com',
      aud: `${server.url}/token`,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      iat: authoriser.nowMs / 1000,
      exp: authoriser.nowMs / 1000 + 3600,
    });
  });

  it('may come as the key, and asks once for a hundred requests', async () => {
    const server = await tokens();
    const authoriser = exampleAuthoriser();
    const apiKey = account({ token_uri: server.url });
    const all = await Promise.all(
      Array.from({ length: 100 }, () => authoriser.authorise(exampleCall({ ...google, apiKey }))),
    );
    expect(new Set(all.map(({ headers }) => headers.authorization)).size).toBe(1);
    expect(server.asked).toHaveLength(1);
    authoriser.nowMs += 3600_000;
    const later = await authoriser.authorise(exampleCall({ ...google, apiKey }));
    expect(later.headers.authorization).toBe('Bearer ya29.token-2');
  });

  it.each([
    'not JSON',
    '[]',
    '{}',
    JSON.stringify({ client_email: 'a@b' }),
    account({ private_key: 7 }),
    account({ private_key: pem.replace('MII', 'AAA') }),
  ])('that cannot be read is a fault of the setting (%#)', async (json) => {
    const call = exampleCall({ ...google, settings: { [jsonSetting]: json } });
    const error = await failureOf(exampleAuthoriser().authorise(call), [secretOf]);
    expect(error).toMatchObject({
      code: 'provider.setting_invalid',
      status: 400,
      field: `x-service-${jsonSetting}`,
    });
  });

  it.each(['http://169.254.169.254/token', 'http://10.0.0.1/token', 'file:///etc/passwd'])(
    'whose token_uri is %s is not sent there',
    async (tokenUri) => {
      const call = exampleCall({ ...google, apiKey: account({ token_uri: tokenUri }) });
      expect(await failureOf(exampleAuthoriser().authorise(call), [secretOf])).toMatchObject({
        code: 'host.invalid',
      });
    },
  );

  it.each([
    [
      { status: 400, body: { error: 'invalid_grant', error_description: 'SECRET' } },
      /\b400 \(invalid_grant\)/,
    ],
    [{ status: 500, body: 'SECRET' }, /\b500\./],
    [{ body: 'SECRET' }, /without a token/],
    [{ body: {} }, /without a token/],
    [{ body: { access_token: '' } }, /without a token/],
    [{ body: { access_token: 'undefined' } }, /without a token/],
    [{ body: { access_token: 'two words' } }, /without a token/],
    ['cut', /could not be reached/],
  ] as const)('that gets no token fails, and says at which step (%#)', async (answer, message) => {
    const server = await startTokenServer(() => answer);
    const call = exampleCall({ ...google, apiKey: account({ token_uri: server.url }) });
    const authoriser = exampleAuthoriser();
    for (let i = 0; i < 3; i += 1)
      expect(
        await failureOf(authoriser.authorise(call), [secretOf, 'SECRET', 'two words']),
      ).toMatchObject({
        code: 'provider.authorisation_failed',
        status: 401,
        message: expect.stringMatching(message),
      });
    expect(server.asked).toHaveLength(1);
  });

  it('is not waited for by a caller who leaves', async () => {
    const server = await startTokenServer(() => 'hang');
    const leaver = new AbortController();
    const call = exampleCall({
      ...google,
      apiKey: account({ token_uri: server.url }),
      signal: leaver.signal,
    });
    const failure = failureOf(exampleAuthoriser().authorise(call));
    await new Promise((done) => setTimeout(done, 50));
    leaver.abort(new Error('gone'));
    expect((await failure).message).toBe('gone');
  });
});

describe('without a service account', () => {
  it('the key is an access token', async () => {
    for (const apiKey of ['ya29.own', 'Bearer ya29.own']) {
      const sent = await exampleAuthoriser().authorise(exampleCall({ ...google, apiKey }));
      expect(sent.headers.authorization).toBe('Bearer ya29.own');
    }
  });

  it('there is nothing to send, and nothing is sent', async () => {
    expect(await failureOf(exampleAuthoriser().authorise(exampleCall(google)))).toMatchObject({
      code: 'provider.setting_missing',
    });
  });
});

describe('the machine’s service account', () => {
  const start = async () => {
    const server = await tokens('1800');
    const environment = { GCP_AUTH_MODE: 'workload', GCE_METADATA_HOST: server.host };
    return { server, authoriser: exampleAuthoriser(environment), environment };
  };

  it('serves saved providers that have no credential of their own', async () => {
    const { server, authoriser } = await start();
    const sent = await authoriser.authorise(exampleCall({ ...google, saved: {} }));
    expect(sent.headers.authorization).toBe('Bearer ya29.token-1');
    expect(server.asked[0]).toMatchObject({
      method: 'GET',
      url: '/computeMetadata/v1/instance/service-accounts/default/token',
      headers: { 'metadata-flavor': 'Google' },
    });
    authoriser.nowMs += 1800_000;
    await authoriser.authorise(exampleCall({ ...google, saved: {} }));
    expect(server.asked).toHaveLength(2);
  });

  it('is not lent to callers who describe a provider themselves, unless the operator says so', async () => {
    const { server, authoriser, environment } = await start();
    expect(await failureOf(authoriser.authorise(exampleCall(google)))).toMatchObject({
      code: 'provider.authorisation_failed',
    });
    const mixed = exampleCall({
      ...google,
      settings: { 'vertex-auth-type': 'workload' },
      saved: {},
    });
    expect(await failureOf(authoriser.authorise(mixed))).toMatchObject({
      code: 'provider.authorisation_failed',
    });
    expect(server.asked).toEqual([]);
    const open = exampleAuthoriser({ ...environment, HOST_IDENTITY_FOR_CALLERS: 'true' });
    const sent = await open.authorise(exampleCall(google));
    expect(sent.headers.authorization).toBe('Bearer ya29.token-1');
  });
});
