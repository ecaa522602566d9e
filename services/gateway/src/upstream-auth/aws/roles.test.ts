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

const roleArn = 'arn:aws:iam::123456789012:role/team/caller';
const call = (over: ExampleCall = {}) =>
  exampleCall({
    recipe: { type: 'aws', service: 'bedrock' },
    origin: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
    ...over,
  });
const assumed = { 'aws-auth-type': 'assumedRole', 'aws-role-arn': roleArn };
const principal = {
  AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'AKIDPRINCIPAL',
  AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: 'SECRETPRINCIPAL',
};
const accessKeyOf = (headers: Asked['headers'] | Record<string, string | string[]>) =>
  /Credential=([^/]+)\//.exec(String(headers.authorization))?.[1];

const credentials = (name: string, expiration = '2026-01-01T01:00:00Z') => ({
  body: `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
    <AccessKeyId>${name}</AccessKeyId><SecretAccessKey>SECRET${name}</SecretAccessKey>
    <SessionToken>session/${name}+==</SessionToken><Expiration>${expiration}</Expiration>
  </Credentials></AssumeRoleResult></AssumeRoleResponse>`,
});
const sts = () => startTokenServer((_asked, number) => credentials(`ASIA${number}`));

describe('mode assumedRole', () => {
  it('takes the role with the operator’s principal, and signs as the role', async () => {
    const server = await sts();
    const authoriser = exampleAuthoriser({ ...principal, AWS_ENDPOINT_URL_STS: `${server.url}/` });
    const saved = { ...assumed, 'aws-external-id': 'external' };
    const { headers } = await authoriser.authorise(call({ saved }));
    expect(accessKeyOf(headers)).toBe('ASIA1');
    expect(headers['x-amz-security-token']).toBe('session/ASIA1+==');
    const [asked] = server.asked;
    expect(Object.fromEntries(asked?.form ?? [])).toEqual({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: roleArn,
      RoleSessionName: 'sluice',
      ExternalId: 'external',
    });
    expect(asked?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDPRINCIPAL\/20260101\/eu-central-1\/sts\/aws4_request, SignedHeaders=content-type;host;x-amz-date, /,
    );
    expect(asked?.headers.host).toBe(server.host);
  });

  it('takes a source role before, where the operator names one', async () => {
    const server = await sts();
    const authoriser = exampleAuthoriser({
      ...principal,
      AWS_ENDPOINT_URL_STS: server.url,
      AWS_ASSUME_ROLE_REGION: 'us-west-2',
      AWS_ASSUME_ROLE_SOURCE_ARN: 'arn:aws:iam::999999999999:role/source',
      AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: 'source-id',
    });
    const { headers } = await authoriser.authorise(call({ saved: assumed }));
    expect(accessKeyOf(headers)).toBe('ASIA2');
    expect(
      server.asked.map((asked) => [
        accessKeyOf(asked.headers),
        asked.form.get('RoleArn'),
        asked.form.get('ExternalId'),
      ]),
    ).toEqual([
      ['AKIDPRINCIPAL', 'arn:aws:iam::999999999999:role/source', 'source-id'],
      ['ASIA1', roleArn, null],
    ]);
    expect(server.asked[1]?.headers['x-amz-security-token']).toBe('session/ASIA1+==');
    expect(server.asked[1]?.headers.authorization).toContain('/us-west-2/sts/');
    await authoriser.authorise(call({ saved: { ...assumed, 'aws-external-id': 'x' } }));
    // The source role's keys are still good.
    expect(server.asked).toHaveLength(3);
  });

  it('takes the role with keys of the request, where it has some', async () => {
    const server = await sts();
    const authoriser = exampleAuthoriser({ ...principal, AWS_ENDPOINT_URL_STS: server.url });
    const settings = {
      ...assumed,
      'aws-access-key-id': 'AKIDCALLER',
      'aws-secret-access-key': 'SECRETCALLER',
    };
    await authoriser.authorise(call({ settings }));
    expect(accessKeyOf(server.asked[0]?.headers ?? {})).toBe('AKIDCALLER');
  });

  it('asks once for a hundred, once for each role, id, region, base and tags, and again at the end', async () => {
    const server = await sts();
    const authoriser = exampleAuthoriser({ ...principal, AWS_ENDPOINT_URL_STS: server.url });
    const variants: ExampleCall[] = [
      { saved: assumed },
      { saved: { ...assumed, 'aws-role-arn': `${roleArn}2` } },
      { saved: { ...assumed, 'aws-external-id': 'a' } },
      { saved: { ...assumed, 'aws-external-id': 'b' } },
      { settings: { ...assumed, 'aws-access-key-id': 'A', 'aws-secret-access-key': 'S' } },
      { settings: { ...assumed, 'aws-access-key-id': 'A', 'aws-secret-access-key': 'T' } },
      { saved: assumed, origin: 'https://bedrock-runtime.us-east-1.amazonaws.com' },
      { saved: assumed, metadata: [{ team: 'x' }] },
    ];
    const ask = () =>
      Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          authoriser.authorise(call(variants[i % variants.length])),
        ),
      );
    const names = (await ask()).map(({ headers }) => accessKeyOf(headers));
    expect(new Set(names).size).toBe(variants.length);
    expect(server.asked).toHaveLength(variants.length);
    // Five minutes before the end new keys are fetched while the old ones serve.
    authoriser.nowMs += 55 * 60_000;
    expect((await ask()).map(({ headers }) => accessKeyOf(headers))).toEqual(names);
    await expect.poll(() => server.asked.length).toBe(2 * variants.length);
  });

  it('tags the session with the metadata, as far as AWS allows', async () => {
    const server = await sts();
    const authoriser = exampleAuthoriser({ ...principal, AWS_ENDPOINT_URL_STS: server.url });
    const metadata = [{ team: 'a&b=c', 'aws:reserved': 'x' }];
    await authoriser.authorise(call({ saved: assumed, metadata }));
    const tags = [...(server.asked[0]?.form ?? [])].filter(([name]) => name.startsWith('Tags.'));
    expect(tags).toEqual([
      ['Tags.member.1.Key', 'team'],
      ['Tags.member.1.Value', 'a_b=c'],
    ]);
    const without = exampleAuthoriser({
      ...principal,
      AWS_ENDPOINT_URL_STS: server.url,
      AWS_SESSION_TAGS: 'false',
    });
    await without.authorise(call({ saved: assumed, metadata }));
    expect([...(server.asked[1]?.form.keys() ?? [])].join()).not.toContain('Tags');
  });

  it('takes a role that allows no tags without them', async () => {
    const server = await startTokenServer(({ form }) =>
      form.has('Tags.member.1.Key')
        ? {
            status: 403,
            body: '<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>',
          }
        : credentials('ASIAPLAIN'),
    );
    const authoriser = exampleAuthoriser({ ...principal, AWS_ENDPOINT_URL_STS: server.url });
    const request = call({ saved: assumed, metadata: [{ team: 'x' }] });
    expect(accessKeyOf((await authoriser.authorise(request)).headers)).toBe('ASIAPLAIN');
    await authoriser.authorise(request);
    expect(server.asked).toHaveLength(2);
  });

  it.each([
    [
      {
        status: 403,
        body: '<Error><Code>AccessDenied</Code><Message>SECRETCALLER</Message></Error>',
      },
      'AWS STS AssumeRole answered 403 (AccessDenied).',
    ],
    [{ status: 500, body: 'SECRETCALLER' }, 'AWS STS AssumeRole answered 500.'],
    [{ body: '<Credentials/>' }, 'AWS STS AssumeRole answered without credentials.'],
    [credentials('ASIA', 'never'), 'AWS STS AssumeRole answered without credentials.'],
    [credentials(''), 'AWS STS AssumeRole answered without credentials.'],
    ['cut', 'AWS STS AssumeRole could not be reached.'],
  ] as const)(
    'that fails says at which step, and shows no secret (%#)',
    async (answer, message) => {
      const server = await startTokenServer(() => answer);
      const authoriser = exampleAuthoriser({ ...principal, AWS_ENDPOINT_URL_STS: server.url });
      const settings = {
        ...assumed,
        'aws-access-key-id': 'AKIDCALLER',
        'aws-secret-access-key': 'SECRETCALLER',
      };
      const failures = await Promise.all(
        Array.from({ length: 20 }, () =>
          failureOf(authoriser.authorise(call({ settings })), ['SECRETCALLER', 'SECRETPRINCIPAL']),
        ),
      );
      for (const failure of failures)
        expect(failure).toMatchObject({
          code: 'provider.authorisation_failed',
          status: 401,
          message,
        });
      expect(server.asked).toHaveLength(1);
      authoriser.nowMs += 1_000;
      await failureOf(authoriser.authorise(call({ settings })));
      expect(server.asked).toHaveLength(2);
    },
  );

  it.each(['', 'x', 'arn:aws:iam::1:role/x', 'arn:aws:iam::123456789012:user/x', `${roleArn}\n`])(
    'takes no role that is none: %j',
    async (arn) => {
      const saved = { ...assumed, 'aws-role-arn': arn };
      const error = await failureOf(exampleAuthoriser(principal).authorise(call({ saved })));
      expect(error.code).toMatch(/^provider\.setting_/);
    },
  );

  it('keeps the admins’ tags where the role refuses one of the caller’s', async () => {
    const server = await startTokenServer(({ form }) =>
      form.has('Tags.member.2.Key')
        ? { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }
        : credentials('ASIATEAM'),
    );
    const authoriser = exampleAuthoriser({ ...principal, AWS_ENDPOINT_URL_STS: server.url });
    const metadata: Record<string, string>[] = [{ team: 'a' }, {}, { odd: 'x', TEAM: 'mine' }];
    await authoriser.authorise(call({ saved: assumed, metadata }));
    expect(server.asked.map(({ form }) => form.get('Tags.member.1.Value'))).toEqual(['a', 'a']);
    expect(server.asked[1]?.form.get('Tags.member.1.Key')).toBe('team');
  });

  it.each([
    ['machine’s own identity', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    ['operator’s principal', 'AWS_ASSUME_ROLE_ACCESS_KEY_ID', 'AWS_ASSUME_ROLE_SECRET_ACCESS_KEY'],
  ])('does not use the %s for a role that a caller names', async (_name, id, secret) => {
    const server = await sts();
    const authoriser = exampleAuthoriser({
      AWS_ENDPOINT_URL_STS: server.url,
      [id]: 'AKIDMACHINE',
      [secret]: 'SECRETMACHINE',
    });
    const foreign = { ...assumed, 'aws-role-arn': `${roleArn}-of-another` };
    for (const request of [
      call({ settings: assumed }),
      call({ settings: foreign, saved: { ...assumed } }),
    ])
      expect(await failureOf(authoriser.authorise(request))).toMatchObject({
        code: 'provider.authorisation_failed',
      });
    expect(server.asked).toEqual([]);
    await authoriser.authorise(call({ saved: assumed }));
    expect(accessKeyOf(server.asked[0]?.headers ?? {})).toBe('AKIDMACHINE');
  });
});
