import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { RefusalLog } from '@sluice/jwt';
import { createGuardedFetch, makeHostRules } from '@sluice/outbound';
import { config } from '@sluice/proto-stubs';
import { type Issuer, startIssuer } from '@sluice/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleExchange } from '../../test/exchange.ts';
import { spellingsOf } from '../../test/token-spellings.ts';
import { Organisations } from '../held/organisations.ts';
import { TokenKeys } from './token-keys.ts';

const id = '0190c8a0-0000-7000-8000-000000000001';
const fetch = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
});
const logger = { info: () => {}, warn: () => {}, error: () => {} } as never;
const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;
type Algorithm = (typeof algorithms)[number];
const keysOf: Record<Algorithm, { privateKey: KeyObject; publicKey: KeyObject }> = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

let issuer: Issuer;
let keys: TokenKeys;
beforeAll(async () => {
  issuer = await startIssuer();
  const jwks = algorithms.map((alg) => ({
    ...keysOf[alg].publicKey.export({ format: 'jwk' }),
    kid: alg,
  }));
  const source = {
    getOrganisation: async () =>
      create(config.OrganisationSchema, {
        id,
        hash: '1',
        jwtSettingsJson: JSON.stringify({
          jwks: { keys: jwks },
          algorithms,
          clock_tolerance_s: 5,
          jwks_max_age_s: 600,
        }),
        workspaces: [{ id: 'w-1', slug: 'main' }],
        defaultWorkspaceId: 'w-1',
      }),
  };
  keys = new TokenKeys({
    organisations: new Organisations({ source, fetch, logger, listed: [] }),
    refusals: new RefusalLog({ write: async () => {}, onError: () => {} }),
    listed: undefined,
    defaultScopes: [],
  });
});
afterAll(() => issuer.close());

const sign = (alg: Algorithm, sub: string) =>
  issuer.sign(
    { service_oid: id, sub, rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }] },
    { key: keysOf[alg].privateKey, header: { alg, kid: alg } },
  );
/** What the limit of a token is counted by, as the pipeline finds it; undefined = it does not get in. */
async function counterOf(token: string): Promise<string | undefined> {
  const held = keys.held(token, Date.now());
  const { arrival } = exampleExchange({ headers: { 'x-service-api-key': token } });
  const key = held ?? (await keys.find(token, arrival).catch(() => undefined));
  return key?.counters[0]?.limit.id;
}

describe('the limits of a token', () => {
  it('are counted by one counter and hold one place in the cache, however it is spelled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...algorithms),
        fc.string({ minLength: 1, maxLength: 40 }),
        fc.infiniteStream(fc.nat()),
        async (alg, sub, picks) => {
          const token = await sign(alg, `u${sub}`);
          const spellings = spellingsOf(token, alg);
          const order = [...spellings]
            .map((text) => ({ text, pick: picks.next().value as number }))
            .sort((a, b) => a.pick - b.pick);
          const before = keys.size;
          const counters = new Set<string>();
          for (const { text } of order) {
            const counter = await counterOf(text);
            if (counter !== undefined) counters.add(counter);
          }
          expect([...counters]).toEqual([await counterOf(token)]);
          expect(keys.size).toBeLessThanOrEqual(before + 1);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('are counted together with those of another token of the same user', async () => {
    const [one, two] = [await sign('ES256', 'alice'), await sign('RS256', 'alice')];
    expect(await counterOf(one)).toBe(await counterOf(two));
  });

  it.each(algorithms)(
    'of %s are not reached by what is spelled otherwise and signed',
    async (alg) => {
      const token = await sign(alg, 'bob');
      const [header = '', payload = '', signature = ''] = token.split('.');
      // What base64url leaves over in these is part of what is signed, as are spaces in their JSON.
      const spaced = Buffer.from(` ${Buffer.from(payload, 'base64url').toString()}`);
      for (const text of [
        `${header}=.${payload}.${signature}`,
        `${header}.${spaced.toString('base64url')}.${signature}`,
        `${header}.${payload}.`,
        `${header}.${payload}.${signature}A`,
        `${header}.${payload}.${signature.slice(0, -1)}`,
      ])
        expect(await counterOf(text)).toBeUndefined();
    },
  );
});
