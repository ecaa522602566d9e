import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  endAll,
  exampleAuthoriser,
  exampleCall,
  failureOf,
  startTokenServer,
} from '../../test/authorisation.ts';

afterEach(endAll);

const azure = (keyHeader: 'api-key' | 'authorization' | 'x-api-key' = 'api-key') => ({
  recipe: { type: 'azure', keyHeader } as const,
});
const entra = {
  'azure-auth-mode': 'entra',
  'azure-entra-tenant-id': 'tenant-1',
  'azure-entra-client-id': 'client-1',
  'azure-entra-client-secret': 'SECRET',
};
const tokens = () =>
  startTokenServer((_asked, number) => ({
    body: { access_token: `eyJ.${number}`, expires_in: 3600 },
  }));

describe('a key', () => {
  it.each([
    ['api-key', { 'api-key': 'k' }],
    ['x-api-key', { 'x-api-key': 'k' }],
    ['authorization', { authorization: 'Bearer k' }],
  ] as const)('stands in %s, and no other proof beside it', async (header, expected) => {
    for (const mode of [undefined, 'default', 'apiKey']) {
      const settings: Record<string, string> =
        mode === undefined ? {} : { 'azure-auth-mode': mode };
      const headers = {
        authorization: 'Bearer theirs',
        'api-key': 'theirs',
        'x-api-key': 'theirs',
      };
      const call = exampleCall({ ...azure(header), apiKey: 'k', settings, headers });
      expect((await exampleAuthoriser().authorise(call)).headers).toEqual(expected);
    }
  });

  it('that is missing is not sent empty', async () => {
    expect(await failureOf(exampleAuthoriser().authorise(exampleCall(azure())))).toMatchObject({
      code: 'provider.authorisation_failed',
      status: 401,
    });
  });
});

describe('a token of the caller’s', () => {
  it('wins over mode and key, with or without its scheme', async () => {
    for (const token of ['eyJ.own', 'Bearer eyJ.own', 'bearer  eyJ.own ']) {
      const settings = { ...entra, 'azure-ad-token': token };
      const call = exampleCall({ ...azure('x-api-key'), apiKey: 'k', settings, headers: {} });
      expect((await exampleAuthoriser().authorise(call)).headers).toEqual({
        authorization: 'Bearer eyJ.own',
      });
    }
  });

  it('that is only a scheme is refused', async () => {
    const call = exampleCall({ ...azure(), settings: { 'azure-ad-token': 'Bearer ' } });
    expect(await failureOf(exampleAuthoriser().authorise(call))).toMatchObject({
      code: 'provider.setting_invalid',
    });
  });
});

describe('mode entra', () => {
  it('trades the client’s secret for a token, also where keys have another header', async () => {
    const server = await tokens();
    const authoriser = exampleAuthoriser({ AZURE_AUTHORITY_HOST: `${server.url}/` });
    const call = exampleCall({
      ...azure('x-api-key'),
      settings: entra,
      headers: { 'api-key': 'x' },
    });
    expect((await authoriser.authorise(call)).headers).toEqual({ authorization: 'Bearer eyJ.1' });
    expect(server.asked[0]?.url).toBe('/tenant-1/oauth2/v2.0/token');
    expect(Object.fromEntries(server.asked[0]?.form ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client-1',
      client_secret: 'SECRET',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
  });

  it('keeps a token for each tenant, client, secret and scope, and asks once for a hundred', async () => {
    const server = await tokens();
    const authoriser = exampleAuthoriser({ AZURE_AUTHORITY_HOST: server.url });
    const variants: Record<string, string>[] = [
      entra,
      { ...entra, 'azure-entra-tenant-id': 'tenant-2' },
      { ...entra, 'azure-entra-client-id': 'client-2' },
      { ...entra, 'azure-entra-client-secret': 'OTHER' },
      { ...entra, 'azure-entra-scope': 'https://ai.azure.com/.default' },
    ];
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        authoriser.authorise(
          exampleCall({ ...azure(), settings: variants[i % variants.length] ?? {} }),
        ),
      ),
    );
    expect(new Set(all.map(({ headers }) => headers.authorization)).size).toBe(variants.length);
    expect(server.asked).toHaveLength(variants.length);
    expect(server.asked.at(-1)?.form.get('scope')).toBe('https://ai.azure.com/.default');
  });

  it('fails in the words of the step and the error’s number, never with a token that is none', async () => {
    const server = await startTokenServer(() => ({
      status: 401,
      body: {
        error: 'invalid_client',
        error_codes: [7000215],
        error_description: 'the secret SECRET is wrong',
      },
    }));
    const authoriser = exampleAuthoriser({ AZURE_AUTHORITY_HOST: server.url });
    const call = exampleCall({ ...azure(), settings: entra });
    expect(await failureOf(authoriser.authorise(call), ['SECRET'])).toMatchObject({
      code: 'provider.authorisation_failed',
      message: 'Microsoft Entra’s token endpoint answered 401 (invalid_client, 7000215).',
    });
  });

  it.each(['azure-entra-tenant-id', 'azure-entra-client-id', 'azure-entra-client-secret'])(
    'needs %s',
    async (name) => {
      const { [name as 'azure-entra-client-id']: _, ...settings } = entra;
      expect(
        await failureOf(exampleAuthoriser().authorise(exampleCall({ ...azure(), settings }))),
      ).toMatchObject({ code: 'provider.setting_missing', field: `x-service-${name}` });
    },
  );

  it.each(['../x', 'a/b', 'a?b', ''])(
    'takes no tenant that leads elsewhere: %j',
    async (tenant) => {
      const settings = { ...entra, 'azure-entra-tenant-id': tenant };
      const call = exampleCall({ ...azure(), settings });
      expect((await failureOf(exampleAuthoriser().authorise(call))).code).toMatch(
        /^provider.setting/,
      );
    },
  );

  it('knows no other mode', async () => {
    const call = exampleCall({ ...azure(), settings: { 'azure-auth-mode': 'magic' } });
    expect(await failureOf(exampleAuthoriser().authorise(call))).toMatchObject({
      code: 'provider.setting_invalid',
    });
  });
});

describe('mode entraFederated', () => {
  const saved = {
    'azure-auth-mode': 'entraFederated',
    'azure-entra-tenant-id': 'tenant-1',
    'azure-entra-client-id': 'client-1',
  };
  const start = async () => {
    const aws = await startTokenServer(() => ({
      body: '<GetWebIdentityTokenResult><WebIdentityToken>eyJ.aws</WebIdentityToken></GetWebIdentityTokenResult>',
    }));
    const entraServer = await tokens();
    const authoriser = exampleAuthoriser({
      AWS_ACCESS_KEY_ID: 'AKIDMACHINE',
      AWS_SECRET_ACCESS_KEY: 'SECRETMACHINE',
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_STS: aws.url,
      AZURE_AUTHORITY_HOST: entraServer.url,
    });
    return { aws, entraServer, authoriser };
  };

  it('trades AWS’s word for who this machine is', async () => {
    const { aws, entraServer, authoriser } = await start();
    const sent = await authoriser.authorise(exampleCall({ ...azure(), saved }));
    expect(sent.headers.authorization).toBe('Bearer eyJ.1');
    expect(Object.fromEntries(aws.asked[0]?.form ?? [])).toMatchObject({
      Action: 'GetWebIdentityToken',
      'Audience.member.1': 'api://AzureADTokenExchange',
      SigningAlgorithm: 'RS256',
    });
    expect(aws.asked[0]?.headers.authorization).toMatch(
      /Credential=AKIDMACHINE\/\d+\/eu-central-1\/sts\//,
    );
    expect(entraServer.asked[0]?.form.get('client_assertion')).toBe('eyJ.aws');
    expect(entraServer.asked[0]?.form.get('client_id')).toBe('client-1');
  });

  it('is not for callers', async () => {
    const { aws, authoriser } = await start();
    for (const call of [
      exampleCall({ ...azure(), settings: saved }),
      exampleCall({ ...azure(), saved, settings: { 'azure-entra-tenant-id': 'theirs' } }),
    ])
      expect(await failureOf(authoriser.authorise(call))).toMatchObject({
        code: 'provider.authorisation_failed',
      });
    expect(aws.asked).toEqual([]);
  });
});

describe('mode managed', () => {
  const saved = { 'azure-auth-mode': 'managed', 'azure-managed-client-id': 'client-9' };

  it('asks the machine’s metadata service', async () => {
    const server = await startTokenServer(() => ({
      body: { access_token: 'eyJ.m', expires_in: '3600', expires_on: '4102444800' },
    }));
    const authoriser = exampleAuthoriser({ AZURE_POD_IDENTITY_AUTHORITY_HOST: server.url });
    const sent = await authoriser.authorise(exampleCall({ ...azure(), saved }));
    expect(sent.headers.authorization).toBe('Bearer eyJ.m');
    const url = new URL(server.asked[0]?.url ?? '', server.url);
    expect(url.pathname).toBe('/metadata/identity/oauth2/token');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      'api-version': '2018-02-01',
      resource: 'https://cognitiveservices.azure.com/',
      client_id: 'client-9',
    });
    expect(server.asked[0]?.headers.metadata).toBe('true');
  });

  it('asks the platform’s service where there is one', async () => {
    const server = await startTokenServer(() => ({
      body: { access_token: 'eyJ.p', expires_on: '4102444800' },
    }));
    const authoriser = exampleAuthoriser({
      IDENTITY_ENDPOINT: `${server.url}/msi/token`,
      IDENTITY_HEADER: 'HEADER',
    });
    const call = exampleCall({ ...azure(), saved: { 'azure-auth-mode': 'managed' } });
    expect((await authoriser.authorise(call)).headers.authorization).toBe('Bearer eyJ.p');
    expect(server.asked[0]?.url).toMatch(/^\/msi\/token\?api-version=2019-08-01&/);
    expect(server.asked[0]?.headers['x-identity-header']).toBe('HEADER');
  });

  it('is not for callers, nor for a scope of theirs', async () => {
    const server = await tokens();
    const authoriser = exampleAuthoriser({ AZURE_POD_IDENTITY_AUTHORITY_HOST: server.url });
    for (const call of [
      exampleCall({ ...azure(), settings: saved }),
      exampleCall({ ...azure(), settings: { 'azure-auth-mode': 'managed' }, saved: {} }),
      exampleCall({
        ...azure(),
        settings: { 'azure-entra-scope': 'https://management.azure.com/.default' },
        saved,
      }),
    ])
      expect(await failureOf(authoriser.authorise(call))).toMatchObject({
        code: 'provider.authorisation_failed',
      });
    expect(server.asked).toEqual([]);
  });
});

describe('mode workload', () => {
  it('shows the token of its file as it is now', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'workload-'));
    const file = join(folder, 'token');
    try {
      await writeFile(file, 'first\n');
      const server = await startTokenServer((_asked, number) => ({
        body: { access_token: `eyJ.${number}`, expires_in: 600 },
      }));
      const authoriser = exampleAuthoriser({
        AZURE_AUTHORITY_HOST: server.url,
        AZURE_FEDERATED_TOKEN_FILE: file,
        AZURE_TENANT_ID: 'tenant-w',
        AZURE_CLIENT_ID: 'client-w',
      });
      const call = exampleCall({ ...azure(), saved: { 'azure-auth-mode': 'workload' } });
      expect((await authoriser.authorise(call)).headers.authorization).toBe('Bearer eyJ.1');
      await writeFile(file, 'second');
      authoriser.nowMs += 600_000;
      await authoriser.authorise(call);
      expect(server.asked.map(({ form }) => form.get('client_assertion'))).toEqual([
        'first',
        'second',
      ]);
      expect(server.asked[0]?.url).toBe('/tenant-w/oauth2/v2.0/token');
      expect(server.asked[0]?.form.get('client_assertion_type')).toBe(
        'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('says what the environment lacks', async () => {
    const call = exampleCall({ ...azure(), saved: { 'azure-auth-mode': 'workload' } });
    expect((await failureOf(exampleAuthoriser().authorise(call))).message).toContain(
      'AZURE_FEDERATED_TOKEN_FILE',
    );
  });
});
