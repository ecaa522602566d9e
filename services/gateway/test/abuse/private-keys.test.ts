import { generateKeyPairSync } from 'node:crypto';
import { encryptedKey, forgedRsaKey, json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, errorOf, type Scenario, startScenario } from '../scenario.ts';
import { longestWaitDuring } from './longest-wait.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
  // Nobody's connection is kept, so that each request looks its host up.
  scenario.upstream.handle(json(200, chatReply, { connection: 'close' }));
});
afterAll(() => scenario.stop());

/** A machine that is busy with other tests; without the bound these are seconds. */
const waitMsMax = 400;
/** A look-up in vain is given up after so long. */
const lookUpMsMax = 5_000;
const small = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

const oracle = (key: string, over: Record<string, string> = {}) =>
  scenario.call('/v1/proxy/20231130/actions/chat', {
    host: scenario.upstream.url,
    headers: {
      'x-service-provider': 'oracle',
      'x-service-oracle-tenancy': 'ocid1.tenancy.t',
      'x-service-oracle-user': 'ocid1.user.u',
      'x-service-oracle-fingerprint': '20:3b',
      'x-service-oracle-private-key': key.replaceAll('\n', '\\n'),
      ...over,
    },
  });
const google = (key: string, number = 0) =>
  scenario.chat({
    host: null,
    headers: {
      'x-service-provider': 'vertex-ai',
      'x-service-vertex-project-id': 'p',
      'x-service-vertex-region': 'europe-west1',
      'x-service-vertex-service-account-json': JSON.stringify({
        client_email: `robot-${number}@p.iam.gserviceaccount.com`,
        private_key: key,
        token_uri: `${scenario.upstream.url}/token`,
      }),
    },
  });
const health = () => fetch(`${scenario.stack.gatewayUrls[0]}/health`);
/** Its host is a name, to which no connection is open: the look-up takes a thread. */
const anothersLookUp = () => {
  const { port } = new URL(scenario.upstream.url);
  return scenario.chat({ host: `http://localhost:${port}/v1` });
};

describe('a private key that comes with a request', () => {
  it.each([
    ['encrypted, with 4 million rounds', encryptedKey(4_000_000), 'encrypted'],
    ['encrypted, with as many rounds as there can be', encryptedKey(2 ** 31 - 1), 'encrypted'],
    ['of 16,384 bits', forgedRsaKey(16_384), '2048 to 4096'],
    ['of 32,768 bits', forgedRsaKey(32_768, { crt: false }), '2048 to 4096'],
    ['of 1,024 bits', forgedRsaKey(1_024), '2048 to 4096'],
    [
      'with an exponent as long as the key',
      forgedRsaKey(4_096, { exponent: (1n << 4_000n) + 1n }),
      'exponent',
    ],
  ])(
    'and is %s is refused before it is worked on',
    async (_, key, reason) => {
      const refused = async () => {
        for (const response of [
          await oracle(key, { 'x-service-oracle-key-passphrase': 'x' }),
          ...(key.length < 14_000 ? [await google(key)] : []),
        ])
          expect(await errorOf(response)).toMatchObject({
            status: 400,
            code: 'provider.setting_invalid',
            message: expect.stringContaining(reason),
          });
      };
      expect(await longestWaitDuring(refused, health)).toBeLessThan(waitMsMax);
    },
    60_000,
  );

  it('of the largest size that is taken leaves threads for the look-ups of others', async () => {
    const keys = Array.from({ length: 24 }, () => forgedRsaKey(4_096));
    const flood = () =>
      Promise.all(
        Array.from({ length: 160 }, async (_, index) => {
          const response = await oracle(keys[index % keys.length] as string);
          await response.arrayBuffer();
          expect([200, 503]).toContain(response.status);
        }),
      );
    // That signatures never take all threads is shown where they are made, and not by the clock;
    // here, that nobody else is refused or given up meanwhile.
    expect(await longestWaitDuring(flood, anothersLookUp)).toBeLessThan(lookUpMsMax);
  });

  it('of too large a size fills no threads by way of Google’s tokens either', async () => {
    const keys = Array.from({ length: 4 }, () => forgedRsaKey(16_384));
    const flood = () => Promise.all(keys.map(google));
    expect(await longestWaitDuring(flood, anothersLookUp)).toBeLessThan(waitMsMax);
  });

  it('of an honest caller signs, while others send hostile ones', async () => {
    const honest = small.export({ type: 'pkcs8', format: 'pem' }) as string;
    const hostile = forgedRsaKey(16_384);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => oracle(index % 2 === 0 ? honest : hostile)),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 200 : 400)),
    );
  });
});
