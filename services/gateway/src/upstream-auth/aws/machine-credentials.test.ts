import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Asked,
  type ExampleCall,
  endAll,
  exampleAuthoriser,
  exampleCall,
  failureOf,
  startTokenServer,
} from '../../../test/authorisation.ts';

afterEach(endAll);

const saved = { 'aws-auth-type': 'serviceRole' };
const call = (over: ExampleCall = { saved }) =>
  exampleCall({
    recipe: { type: 'aws', service: 'bedrock' },
    origin: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
    ...over,
  });
const accessKeyOf = (headers: Record<string, string | string[]>) =>
  /Credential=([^/]+)\//.exec(String(headers.authorization))?.[1];
const credentials = (name: string, over: object = {}) => ({
  body: {
    AccessKeyId: name,
    SecretAccessKey: `SECRET${name}`,
    Token: `session-${name}`,
    Expiration: '2026-01-01T06:00:00Z',
    ...over,
  },
});

async function withFile<T>(text: string, work: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'token-'));
  const path = join(folder, 'token');
  try {
    await writeFile(path, text);
    return await work(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('mode serviceRole', () => {
  it('is for saved providers that say so', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'SECRETENV' };
    const authoriser = exampleAuthoriser(environment);
    expect(accessKeyOf((await authoriser.authorise(call())).headers)).toBe('AKIDENV');
    for (const over of [{ settings: saved }, { settings: saved, saved: {} }])
      expect(await failureOf(authoriser.authorise(call(over)), ['SECRETENV'])).toMatchObject({
        code: 'provider.authorisation_failed',
      });
    const open = exampleAuthoriser({ ...environment, HOST_IDENTITY_FOR_CALLERS: 'true' });
    expect(accessKeyOf((await open.authorise(call({ settings: saved }))).headers)).toBe('AKIDENV');
  });

  it('is never taken for granted', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'SECRETENV' };
    expect(
      await failureOf(exampleAuthoriser(environment).authorise(call({ saved: {} }))),
    ).toMatchObject({ code: 'provider.setting_missing' });
  });

  it('takes keys of the environment with their session token', async () => {
    const authoriser = exampleAuthoriser({
      AWS_ACCESS_KEY_ID: 'AKIDENV',
      AWS_SECRET_ACCESS_KEY: 'SECRETENV',
      AWS_SESSION_TOKEN: 'session',
      AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/never-asked',
    });
    const { headers } = await authoriser.authorise(call());
    expect(headers['x-amz-security-token']).toBe('session');
  });

  it('trades the web identity of its file, as it is now', async () => {
    const server = await startTokenServer((_asked, number) => ({
      body: `<Credentials><AccessKeyId>ASIA${number}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2026-01-01T0${number}:00:00Z</Expiration></Credentials>`,
    }));
    await withFile('identity-1\n', async (file) => {
      const authoriser = exampleAuthoriser({
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/pod',
        AWS_WEB_IDENTITY_TOKEN_FILE: file,
        AWS_ROLE_SESSION_NAME: 'gateway-1',
        AWS_ENDPOINT_URL_STS: server.url,
      });
      expect(accessKeyOf((await authoriser.authorise(call())).headers)).toBe('ASIA1');
      await writeFile(file, 'identity-2');
      authoriser.nowMs += 60 * 60_000;
      expect(accessKeyOf((await authoriser.authorise(call())).headers)).toBe('ASIA2');
    });
    expect(server.asked.map(({ form }) => form.get('WebIdentityToken'))).toEqual([
      'identity-1',
      'identity-2',
    ]);
    expect(server.asked[0]?.form.get('Action')).toBe('AssumeRoleWithWebIdentity');
    expect(server.asked[0]?.form.get('RoleSessionName')).toBe('gateway-1');
    expect(server.asked[0]?.headers.authorization).toBeUndefined();
  });

  it('says when that file is empty or away', async () => {
    const environment = (file: string) => ({
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/pod',
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
    });
    expect(
      (await failureOf(exampleAuthoriser(environment('/not/there')).authorise(call()))).message,
    ).toBe('AWS’s web identity token file cannot be read.');
    await withFile(' \n', async (file) => {
      expect(
        (await failureOf(exampleAuthoriser(environment(file)).authorise(call()))).message,
      ).toBe('AWS’s web identity token file is empty.');
    });
  });
});

describe('a container', () => {
  it('gives its credentials for the token of its file, once for a hundred', async () => {
    const server = await startTokenServer((_asked, number) => credentials(`ASIA${number}`));
    await withFile('pod-token', async (file) => {
      const authoriser = exampleAuthoriser({
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/v1/credentials`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
      });
      const all = await Promise.all(
        Array.from({ length: 100 }, () => authoriser.authorise(call())),
      );
      expect(new Set(all.map(({ headers }) => accessKeyOf(headers)))).toEqual(new Set(['ASIA1']));
    });
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]).toMatchObject({
      method: 'GET',
      url: '/v1/credentials',
      headers: { authorization: 'pod-token' },
    });
  });

  it.each(['http://10.0.0.1/x', 'http://example.com/x', 'ftp://127.0.0.1/x', 'nonsense'])(
    'is not asked in the clear at %s',
    async (url) => {
      const authoriser = exampleAuthoriser({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url });
      expect((await failureOf(authoriser.authorise(call()))).message).toContain(
        'AWS_CONTAINER_CREDENTIALS_FULL_URI must be https',
      );
    },
  );

  it.each([
    [{ status: 403, body: 'SECRET' }, 'answered 403.'],
    [{ body: 'SECRET' }, 'answered without credentials.'],
    [{ body: { AccessKeyId: 'A' } }, 'answered without credentials.'],
    [{ body: 'x'.repeat(300_000) }, 'could not be reached.'],
    ['cut', 'could not be reached.'],
  ] as const)('that fails says so (%#)', async (answer, what) => {
    const server = await startTokenServer(() => answer);
    const authoriser = exampleAuthoriser({ AWS_CONTAINER_CREDENTIALS_FULL_URI: server.url });
    expect(await failureOf(authoriser.authorise(call()), ['SECRET'])).toMatchObject({
      code: 'provider.authorisation_failed',
      message: `AWS’s container credentials service ${what}`,
    });
  });
});

describe('an instance', () => {
  /** Instance metadata, version 2: nothing without a session. */
  const answer = ({ method, url, headers }: Asked) => {
    if (method === 'PUT' && url === '/latest/api/token')
      return { body: `session-${headers['x-aws-ec2-metadata-token-ttl-seconds']}` };
    if (headers['x-aws-ec2-metadata-token'] !== 'session-21600') return { status: 401, body: '' };
    return url === '/latest/meta-data/iam/security-credentials/'
      ? { body: 'instance-role\n' }
      : { ...credentials('ASIAEC2') };
  };

  it('opens a session, finds its role and gives the role’s credentials', async () => {
    const server = await startTokenServer(answer);
    const authoriser = exampleAuthoriser({ AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url });
    const { headers } = await authoriser.authorise(call());
    expect(accessKeyOf(headers)).toBe('ASIAEC2');
    expect(headers['x-amz-security-token']).toBe('session-ASIAEC2');
    expect(server.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/',
      'GET /latest/meta-data/iam/security-credentials/instance-role',
    ]);
    await authoriser.authorise(call());
    expect(server.asked).toHaveLength(3);
    authoriser.nowMs += 6 * 60 * 60_000;
    await authoriser.authorise(call());
    expect(server.asked).toHaveLength(6);
  });

  it('is asked without a session only where the operator allows it', async () => {
    const old = ({ method, url }: Asked) => {
      if (method === 'PUT') return { status: 405, body: '' };
      return url.endsWith('/') ? { body: 'old-role' } : credentials('ASIAV1');
    };
    const server = await startTokenServer(old);
    const environment = { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url };
    expect((await failureOf(exampleAuthoriser(environment).authorise(call()))).message).toBe(
      'AWS’s instance metadata service answered 405 when asked for a session.',
    );
    const allowed = exampleAuthoriser({ ...environment, AWS_IMDS_V1: 'true' });
    expect(accessKeyOf((await allowed.authorise(call())).headers)).toBe('ASIAV1');
  });

  it('is not asked where it was switched off', async () => {
    const authoriser = exampleAuthoriser({ AWS_EC2_METADATA_DISABLED: 'true' });
    expect((await failureOf(authoriser.authorise(call()))).message).toBe(
      'The gateway’s machine has no identity in AWS.',
    );
  });

  it('that is silent is not waited for', async () => {
    const server = await startTokenServer(() => 'hang');
    const authoriser = exampleAuthoriser({ AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url });
    expect((await failureOf(authoriser.authorise(call()))).message).toBe(
      'AWS’s instance metadata service did not answer within 2 s.',
    );
  });

  it('gives no path to a name that is no role', async () => {
    const server = await startTokenServer(({ method, url }) =>
      method === 'PUT' ? { body: 's' } : { body: url.endsWith('/') ? '../../user-data' : 'x' },
    );
    const authoriser = exampleAuthoriser({ AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url });
    expect((await failureOf(authoriser.authorise(call()))).message).toContain('knows no role');
    expect(server.asked).toHaveLength(2);
  });
});
