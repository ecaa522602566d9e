import { SignatureV4 } from '@smithy/signature-v4';
import { describe, expect, it } from 'vitest';
import { Sha256 } from './sha256.ts';
import { type SignableRequest, signRequest } from './sign-request.ts';

/** Of AWS's test suite: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-test-suite.html */
const suite = {
  service: 'service',
  region: 'us-east-1',
  credentials: {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  },
  atMs: Date.UTC(2015, 7, 30, 12, 36, 0),
};
const plain: SignableRequest = {
  method: 'GET',
  origin: 'https://example.amazonaws.com',
  path: '/',
  headers: {},
  body: undefined,
};

const signatureOf = (headers: Record<string, string | string[]>) =>
  /SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(String(headers.authorization))?.slice(1);

describe('AWS’s published vectors', () => {
  it.each<[string, Partial<SignableRequest>, string, string]>([
    [
      'get-vanilla',
      {},
      'host;x-amz-date',
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'post-vanilla',
      { method: 'POST' },
      'host;x-amz-date',
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'get-vanilla-query-order-key-case',
      { path: '/?Param2=value2&Param1=value1' },
      'host;x-amz-date',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'post-x-www-form-urlencoded',
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: Buffer.from('Param1=value1'),
      },
      'content-type;host;x-amz-date',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('%s', async (_name, over, signedHeaders, signature) => {
    expect(signatureOf(await signRequest({ ...plain, ...over }, suite))).toEqual([
      signedHeaders,
      signature,
    ]);
  });

  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  it('S3, GET of a range', async () => {
    const signed = await signRequest(
      {
        ...plain,
        origin: 'https://examplebucket.s3.amazonaws.com',
        path: '/test.txt',
        headers: { range: 'bytes=0-9' },
      },
      {
        service: 's3',
        region: 'us-east-1',
        credentials: {
          accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
          secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        },
        atMs: Date.UTC(2013, 4, 24),
      },
    );
    expect(signatureOf(signed)).toEqual([
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ]);
  });
});

describe('signRequest', () => {
  const scope = { ...suite, service: 'bedrock', region: 'eu-central-1' };

  it('signs the paths of models as the SDK does, which encodes what is encoded once more', async () => {
    const body = Buffer.from('{"messages":[]}');
    const path = '/model/anthropic.claude-3-5-sonnet%3A0/converse';
    const ours = await signRequest(
      {
        ...plain,
        method: 'POST',
        origin: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
        path,
        headers: { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'sluice' },
        body,
      },
      scope,
    );
    const theirs = await new SignatureV4({ ...scope, sha256: Sha256, applyChecksum: false }).sign(
      {
        method: 'POST',
        protocol: 'https:',
        hostname: 'bedrock-runtime.eu-central-1.amazonaws.com',
        path,
        headers: {
          host: 'bedrock-runtime.eu-central-1.amazonaws.com',
          'content-type': 'application/json',
        },
        body,
      },
      { signingDate: new Date(scope.atMs) },
    );
    expect(ours.authorization).toBe(theirs.headers.authorization);
    expect(ours).toMatchObject({ accept: '*/*', 'user-agent': 'sluice' });
  });

  it('encodes the path once more for all services but S3', async () => {
    const at = (path: string, service: string) =>
      signRequest({ ...plain, path }, { ...scope, service }).then(signatureOf);
    // Encoded and plain are two resources for S3, and may be one elsewhere only by being encoded alike.
    expect(await at('/a%3Ab', 'bedrock')).not.toEqual(await at('/a:b', 'bedrock'));
    expect(await at('/a/../b', 'bedrock')).toEqual(await at('/b', 'bedrock'));
    expect(await at('/a/../b', 's3')).not.toEqual(await at('/b', 's3'));
  });

  it('signs a session token, and sends it', async () => {
    const credentials = { ...scope.credentials, sessionToken: 'session' };
    const signed = await signRequest(plain, { ...scope, credentials });
    expect(signed['x-amz-security-token']).toBe('session');
    expect(signatureOf(signed)?.[0]).toBe('host;x-amz-date;x-amz-security-token');
  });

  it('replaces a caller’s own signature, whole', async () => {
    const signed = await signRequest(
      {
        ...plain,
        headers: {
          authorization: 'AWS4-HMAC-SHA256 Credential=THEIRS',
          'X-Amz-Date': '20000101T000000Z',
          'x-amz-security-token': 'theirs',
          'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
          date: 'yesterday',
          host: 'elsewhere',
        },
      },
      scope,
    );
    expect(signed).toEqual({
      ...(await signRequest(plain, scope)),
    });
    expect(signed.host).toBe('example.amazonaws.com');
  });

  it('changes with each byte of the body, and with each header that it covers', async () => {
    const of = async (over: Partial<SignableRequest>) =>
      signatureOf(await signRequest({ ...plain, method: 'POST', ...over }, scope))?.[1];
    const signatures = await Promise.all([
      of({ body: Buffer.from('a') }),
      of({ body: Buffer.from('b') }),
      of({ body: undefined }),
      of({ headers: { 'content-type': 'text/plain' } }),
      of({ headers: { 'x-amzn-bedrock-accept': 'x', 'x-amz-meta': 'y' } }),
      of({ path: '/?a=1&a=2' }),
      of({ path: '/?a=2' }),
      of({ path: '/?a=%2B' }),
      of({ path: '/?a=%20' }),
      of({ path: '/?%E0%A4%A' }),
    ]);
    expect(new Set(signatures).size).toBe(signatures.length);
  });

  it('leaves the body of an S3 upload out where it is asked to', async () => {
    const signed = await signRequest(
      { ...plain, method: 'PUT', body: 'unsigned' },
      { ...scope, service: 's3' },
    );
    expect(signed['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
    expect(signatureOf(signed)?.[0]).toContain('x-amz-content-sha256');
  });
});

it('signs no query of thousands of parameters', async () => {
  const request = {
    method: 'GET',
    origin: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    path: `/model?${'a=1&'.repeat(501)}`,
    headers: {},
    body: undefined,
  };
  const scope = {
    service: 'bedrock',
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
    atMs: 0,
  };
  await expect(signRequest(request, scope)).rejects.toMatchObject({
    code: 'request.invalid_field',
    field: 'query',
  });
});
