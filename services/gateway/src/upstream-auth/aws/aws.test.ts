import { Readable } from 'node:stream';
import { signRequest } from '@sluice/aws-signature';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ExampleCall,
  endAll,
  exampleAuthoriser,
  exampleCall,
  failureOf,
} from '../../../test/authorisation.ts';

afterEach(endAll);

const keys = {
  'aws-access-key-id': 'AKIDCALLER',
  'aws-secret-access-key': 'SECRETCALLER',
  'aws-region': 'eu-central-1',
};
const origin = 'https://bedrock-runtime.eu-central-1.amazonaws.com';
const call = (over: ExampleCall = {}, service = 'bedrock') =>
  exampleCall({ recipe: { type: 'aws', service }, origin, path: '/model/m/converse', ...over });
const scopeOf = (headers: Record<string, string | string[]>) =>
  /Credential=([^,]+),/.exec(String(headers.authorization))?.[1];

describe('mode accessKey', () => {
  it('signs what is sent, and sends nothing else of the credential', async () => {
    const authoriser = exampleAuthoriser();
    const request = call({
      settings: keys,
      headers: { 'content-type': 'application/json', 'x-api-key': 'theirs' },
    });
    const sent = await authoriser.authorise(request);
    const { host: _, ...expected } = await signRequest(
      {
        method: 'POST',
        origin,
        path: '/model/m/converse',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('{"a":1}'),
      },
      {
        service: 'bedrock',
        region: 'eu-central-1',
        credentials: { accessKeyId: 'AKIDCALLER', secretAccessKey: 'SECRETCALLER' },
        atMs: authoriser.nowMs,
      },
    );
    expect(sent.headers).toEqual(expected);
    expect(sent.body).toBe(request.body);
    expect(JSON.stringify(sent.headers)).not.toContain('SECRETCALLER');
  });

  it('sends a session token', async () => {
    const settings = { ...keys, 'aws-session-token': 'SESSION' };
    const { headers } = await exampleAuthoriser().authorise(call({ settings }));
    expect(headers['x-amz-security-token']).toBe('SESSION');
  });

  it('signs for the service of the recipe, in the region of the address', async () => {
    const at = async (service: string, url: string, settings: Record<string, string> = keys) =>
      scopeOf(
        (await exampleAuthoriser().authorise(call({ settings, origin: url }, service))).headers,
      );
    expect(await at('sagemaker', 'https://runtime.sagemaker.us-gov-west-1.amazonaws.com')).toBe(
      'AKIDCALLER/20260101/us-gov-west-1/sagemaker/aws4_request',
    );
    expect(
      await at('aws-external-anthropic', 'https://aws-external-anthropic.us-west-2.api.aws'),
    ).toBe('AKIDCALLER/20260101/us-west-2/aws-external-anthropic/aws4_request');
    for (const own of ['https://vpce-1.example.com', 'https://llm.my-app-1.example.com'])
      expect(await at('bedrock', own)).toBe(
        'AKIDCALLER/20260101/eu-central-1/bedrock/aws4_request',
      );
    expect(await at('s3', 'https://vpce-1.s3.us-east-1.vpce.amazonaws.com')).toBe(
      'AKIDCALLER/20260101/us-east-1/s3/aws4_request',
    );
  });

  it('takes the region of the environment where nothing else names one, and asks for one at last', async () => {
    const { 'aws-region': _, ...settings } = keys;
    const request = call({ settings, origin: 'https://private.example.com' });
    const sent = await exampleAuthoriser({ AWS_REGION: 'ap-south-1' }).authorise(request);
    expect(scopeOf(sent.headers)).toContain('/ap-south-1/');
    expect(await failureOf(exampleAuthoriser().authorise(request))).toMatchObject({
      code: 'provider.setting_missing',
      field: 'x-service-aws-region',
    });
  });

  it('goes to the domain of another partition', async () => {
    const to = async (url: string, environment: Record<string, string> = {}) =>
      (await exampleAuthoriser(environment).authorise(call({ settings: keys, origin: url })))
        .origin;
    expect(await to(origin)).toBe(origin);
    expect(await to('https://bedrock-runtime.cn-north-1.amazonaws.com')).toBe(
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
    );
    expect(await to(origin, { AWS_ENDPOINT_DOMAIN: 'c2s.ic.gov' })).toBe(
      'https://bedrock-runtime.eu-central-1.c2s.ic.gov',
    );
    expect(await to('https://mine.example.com', { AWS_ENDPOINT_DOMAIN: 'c2s.ic.gov' })).toBe(
      'https://mine.example.com',
    );
  });

  it.each(['aws-access-key-id', 'aws-secret-access-key'])('needs %s', async (name) => {
    const { [name as 'aws-access-key-id']: _, ...settings } = keys;
    const all = { 'aws-auth-type': 'accessKey', ...settings };
    expect(await failureOf(exampleAuthoriser().authorise(call({ settings: all })))).toMatchObject({
      code: 'provider.setting_missing',
      field: `x-service-${name}`,
    });
  });
});

describe('a body that flows through', () => {
  const flowing = (...sizes: number[]) =>
    Readable.from(sizes.map((size) => Buffer.alloc(size, 'x')));

  it('is collected, since the signature needs all of it', async () => {
    const authoriser = exampleAuthoriser();
    const sent = await authoriser.authorise(call({ settings: keys, body: flowing(10, 20) }));
    const whole = await authoriser.authorise(call({ settings: keys, body: Buffer.alloc(30, 'x') }));
    expect(sent).toEqual(whole);
  });

  it('is refused when it is too large to be collected', async () => {
    const body = flowing(600, 600);
    const authoriser = exampleAuthoriser({ SIGNED_BODY_BYTES_MAX: '1024' });
    expect(await failureOf(authoriser.authorise(call({ settings: keys, body })))).toMatchObject({
      code: 'request.too_large',
    });
    expect(body.destroyed).toBe(true);
  });

  it('is let go when its caller leaves', async () => {
    const body = new Readable({ read: () => undefined });
    const leaver = new AbortController();
    const failure = failureOf(
      exampleAuthoriser().authorise(call({ settings: keys, body, signal: leaver.signal })),
    );
    await new Promise(setImmediate);
    leaver.abort(new Error('gone'));
    expect((await failure).message).toBe('gone');
  });

  it('goes to S3 as it comes', async () => {
    const body = flowing(600, 600);
    const authoriser = exampleAuthoriser({ SIGNED_BODY_BYTES_MAX: '1024' });
    const sent = await authoriser.authorise(call({ settings: keys, body, method: 'PUT' }, 's3'));
    expect(sent.body).toBe(body);
    expect(sent.headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
  });
});

describe('mode apiKey', () => {
  it('is a bearer token, named or by being all there is', async () => {
    for (const settings of [{ 'aws-auth-type': 'apiKey' }, {}] as Record<string, string>[]) {
      const sent = await exampleAuthoriser().authorise(call({ settings, apiKey: 'ABSK' }));
      expect(sent.headers).toEqual({
        'content-type': 'application/json',
        authorization: 'Bearer ABSK',
      });
    }
  });

  it('is none of services that want a signature', async () => {
    const settings = { 'aws-auth-type': 'apiKey' };
    expect(
      await failureOf(exampleAuthoriser().authorise(call({ settings, apiKey: 'k' }, 'sagemaker'))),
    ).toMatchObject({ code: 'provider.setting_invalid' });
  });

  it('sends no empty key', async () => {
    const settings = { 'aws-auth-type': 'apiKey' };
    expect(await failureOf(exampleAuthoriser().authorise(call({ settings })))).toMatchObject({
      code: 'provider.authorisation_failed',
    });
  });
});

it('knows no other mode', async () => {
  const settings = { ...keys, 'aws-auth-type': 'magic' };
  expect(await failureOf(exampleAuthoriser().authorise(call({ settings })))).toMatchObject({
    code: 'provider.setting_invalid',
    field: 'x-service-aws-auth-type',
  });
});
