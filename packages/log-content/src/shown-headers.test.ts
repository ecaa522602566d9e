import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shownHeaders } from './shown-headers.ts';

const none: ReadonlySet<string> = new Set();
const hash = (value: string) => `hash of ${value.length}`;

it('masks credentials, whatever they are called, and shows the rest', () => {
  const { headers } = shownHeaders(
    {
      authorization: 'Bearer canary',
      'x-api-key': 'canary',
      'api-key': 'canary',
      'x-goog-api-key': 'canary',
      cookie: 'canary',
      'set-cookie': ['canary', 'canary'],
      'proxy-authorization': 'canary',
      'x-amz-security-token': 'canary',
      'x-hub-signature-256': 'canary',
      'x-goog-iap-jwt-assertion': 'canary',
      'content-type': 'application/json',
      'x-ratelimit-remaining-tokens': '12',
      accept: ['a', 'b'],
      missing: undefined,
    },
    none,
    hash,
  );
  expect(JSON.stringify(headers)).not.toContain('canary');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-ratelimit-remaining-tokens': '12',
    accept: 'a, b',
  });
});

it('hashes what is named as sensitive, and masks a credential all the same', () => {
  const sensitive = new Set(['x-patient', 'authorization', 'x-service-metadata']);
  expect(
    shownHeaders(
      { 'x-patient': 'Ann', authorization: 'Bearer', 'x-service-metadata': '{"a":1}' },
      sensitive,
      hash,
    ),
  ).toEqual({
    headers: { 'x-patient': 'hash of 3', authorization: '[masked]' },
    serviceHeaders: { 'x-service-metadata': 'hash of 7' },
  });
});

it('of our own headers shows those that cannot hold a secret: a config by its name only', () => {
  const { serviceHeaders } = shownHeaders(
    {
      'x-service-api-key': 'canary',
      'x-service-aws-secret-access-key': 'canary',
      'x-service-custom-host': 'https://user:canary@host',
      'x-service-config': '{"api_key":"canary"}',
      'x-service-trace-id': 't-1',
      'x-service-provider': '@openai',
    },
    none,
    hash,
  );
  expect(JSON.stringify(serviceHeaders)).not.toContain('canary');
  expect(serviceHeaders).toMatchObject({
    'x-service-trace-id': 't-1',
    'x-service-provider': '@openai',
  });
  expect(shownHeaders({ 'x-service-config': 'pc-a1' }, none, hash).serviceHeaders).toEqual({
    'x-service-config': 'pc-a1',
  });
});

it('never shows the value of a header that is named as sensitive', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
  fc.assert(
    fc.property(name, (header) => {
      const shown = shownHeaders({ [header]: 'canary' }, new Set([header]), () => '#');
      expect(JSON.stringify(shown)).not.toContain('canary');
    }),
  );
});
