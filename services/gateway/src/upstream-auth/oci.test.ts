import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ExampleCall,
  endAll,
  exampleAuthoriser,
  exampleCall,
  failureOf,
} from '../../test/authorisation.ts';

afterEach(endAll);

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const settings = {
  'oracle-tenancy': 'ocid1.tenancy.oc1..t',
  'oracle-user': 'ocid1.user.oc1..u',
  'oracle-fingerprint': '20:3b:97',
  'oracle-private-key': pem,
};
const call = (over: ExampleCall = {}) =>
  exampleCall({
    recipe: { type: 'oci' },
    origin: 'https://inference.generativeai.eu-frankfurt-1.oci.oraclecloud.com',
    path: '/20231130/actions/chat?x=%20y',
    settings,
    ...over,
  });

/** What the upstream checks: the lines that `headers` names, under the signature. */
function isGenuine(
  headers: Record<string, string | string[]>,
  request: { method: string; path: string; host: string },
): boolean {
  const parts = Object.fromEntries(
    [...String(headers.authorization).matchAll(/(\w+)="([^"]*)"/g)].map((match) => [
      match[1],
      match[2],
    ]),
  ) as Record<string, string>;
  const lines = (parts.headers ?? '').split(' ').map((name) => {
    if (name === '(request-target)')
      return `${name}: ${request.method.toLowerCase()} ${request.path}`;
    return `${name}: ${name === 'host' ? request.host : headers[name]}`;
  });
  const signature = Buffer.from(parts.signature ?? '', 'base64');
  return verify('rsa-sha256', Buffer.from(lines.join('\n')), publicKey, signature);
}

const wire = (request: ReturnType<typeof call>) => ({
  method: request.method,
  path: request.path,
  host: new URL(request.origin).host,
});

describe('Oracle’s signature', () => {
  it('covers target, date, host and the body with its type and length', async () => {
    const request = call();
    const { headers, body } = await exampleAuthoriser().authorise(request);
    expect(isGenuine(headers, wire(request))).toBe(true);
    expect(isGenuine(headers, { ...wire(request), path: '/other' })).toBe(false);
    expect(headers).toMatchObject({
      date: 'Thu, 01 Jan 2026 00:00:00 GMT',
      'content-length': '7',
      'content-type': 'application/json',
      'x-content-sha256': createHash('sha256').update('{"a":1}').digest('base64'),
    });
    expect(headers.authorization).toMatch(
      /^Signature version="1",keyId="ocid1.tenancy.oc1..t\/ocid1.user.oc1..u\/20:3b:97",algorithm="rsa-sha256",headers="\(request-target\) date host x-content-sha256 content-type content-length",signature="[^"]+"$/,
    );
    expect(headers.host).toBeUndefined();
    expect(body).toEqual(Buffer.from('{"a":1}'));
  });

  it('covers less where there is no body', async () => {
    const request = call({ method: 'GET', body: null, headers: {} });
    const { headers } = await exampleAuthoriser().authorise(request);
    expect(isGenuine(headers, wire(request))).toBe(true);
    expect(Object.keys(headers).sort()).toEqual(['authorization', 'date']);
  });

  it('replaces what a caller claims', async () => {
    const theirs = {
      Authorization: 'Signature theirs',
      date: 'yesterday',
      'x-content-sha256': 'theirs',
      'content-length': '99',
      'x-kept': 'y',
    };
    const request = call({ headers: theirs });
    const { headers } = await exampleAuthoriser().authorise(request);
    expect(isGenuine(headers, wire(request))).toBe(true);
    expect(headers['x-kept']).toBe('y');
    expect(JSON.stringify(headers)).not.toContain('theirs');
  });

  it('takes a body that flows, up to a limit', async () => {
    const request = call({ body: Readable.from([Buffer.from('ab'), Buffer.from('c')]) });
    const sent = await exampleAuthoriser().authorise(request);
    expect(sent.body).toEqual(Buffer.from('abc'));
    expect(isGenuine(sent.headers, wire(request))).toBe(true);
    const large = Readable.from([Buffer.alloc(2000)]);
    const small = exampleAuthoriser({ SIGNED_BODY_BYTES_MAX: '1024' });
    expect(await failureOf(small.authorise(call({ body: large })))).toMatchObject({
      code: 'request.too_large',
      status: 413,
    });
    expect(large.destroyed).toBe(true);
  });
});

describe('Oracle’s key', () => {
  const encrypted = privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'PASSPHRASE',
  }) as string;

  it.each([
    ['PEM', { 'oracle-private-key': pem }],
    [
      'PKCS#1',
      { 'oracle-private-key': privateKey.export({ type: 'pkcs1', format: 'pem' }) as string },
    ],
    ['with line ends written out', { 'oracle-private-key': pem.replaceAll('\n', '\\n') }],
    ['with spaces for line ends', { 'oracle-private-key': pem.replaceAll('\n', ' ') }],
    ['base64 of PEM', { 'oracle-private-key': Buffer.from(pem).toString('base64') }],
  ])('may be %s', async (_form, over) => {
    const request = call({ settings: { ...settings, ...over } });
    const { headers } = await exampleAuthoriser().authorise(request);
    expect(isGenuine(headers, wire(request))).toBe(true);
  });

  it.each([
    ['PKCS#8', encrypted],
    [
      'the old form',
      privateKey.export({
        type: 'pkcs1',
        format: 'pem',
        cipher: 'aes-128-cbc',
        passphrase: 'PASSPHRASE',
      }) as string,
    ],
  ])('may be encrypted where admins saved it with its passphrase: %s', async (_form, text) => {
    const saved = { 'oracle-private-key': text, 'oracle-key-passphrase': 'PASSPHRASE' };
    const { 'oracle-private-key': _, ...rest } = settings;
    const request = call({ settings: rest, saved });
    const { headers } = await exampleAuthoriser().authorise(request);
    expect(isGenuine(headers, wire(request))).toBe(true);
    // A caller's own is not, nor with a passphrase beside an admin's.
    for (const over of [
      { settings: { ...rest, ...saved } },
      { settings: { ...rest, ...saved, 'oracle-private-key': `${text} ` }, saved },
    ])
      expect(await failureOf(exampleAuthoriser().authorise(call(over)))).toMatchObject({
        code: 'provider.setting_invalid',
        message: expect.stringContaining('is encrypted'),
      });
  });

  it('may be the provider’s key', async () => {
    const { 'oracle-private-key': _, ...rest } = settings;
    const request = call({ settings: rest, apiKey: pem });
    expect(isGenuine((await exampleAuthoriser().authorise(request)).headers, wire(request))).toBe(
      true,
    );
  });

  it.each<Record<string, string>>([
    { 'oracle-private-key': 'SECRETSECRET' },
    { 'oracle-private-key': pem.slice(0, 200) },
    { 'oracle-private-key': encrypted },
    { 'oracle-private-key': encrypted, 'oracle-key-passphrase': 'WRONGPHRASE' },
    {
      'oracle-private-key': generateKeyPairSync('ed25519').privateKey.export({
        type: 'pkcs8',
        format: 'pem',
      }) as string,
    },
  ])('that cannot be used is a fault of the setting, and is not shown (%#)', async (over) => {
    const request = call({ settings: { ...settings, ...over } });
    const secrets = [pem.slice(60, 100), 'SECRETSECRET', 'WRONGPHRASE', encrypted.slice(60, 100)];
    expect(await failureOf(exampleAuthoriser().authorise(request), secrets)).toMatchObject({
      code: 'provider.setting_invalid',
      field: 'x-service-oracle-private-key',
    });
  });

  it.each(Object.keys(settings))('and %s are needed', async (name) => {
    const { [name as 'oracle-user']: _, ...rest } = settings;
    expect(await failureOf(exampleAuthoriser().authorise(call({ settings: rest })))).toMatchObject({
      code: 'provider.setting_missing',
      field: `x-service-${name}`,
    });
  });

  it('takes no id that breaks out of its quotes', async () => {
    const over = { ...settings, 'oracle-user': 'u",algorithm="none' };
    expect(await failureOf(exampleAuthoriser().authorise(call({ settings: over })))).toMatchObject({
      code: 'provider.setting_invalid',
    });
  });
});
