import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readKeySet } from './key-set.ts';

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsa = { ...publicKey.export({ format: 'jwk' }), kid: 'a' };
const number = (bytes: number) => Buffer.alloc(bytes, 0xff).toString('base64url');

describe('a key of an issuer', () => {
  it.each<[string, object, string]>([
    ['short', { n: number(128) }, 'has 1024 bits; 2048 to 8192 are allowed'],
    ['long', { n: number(1025) }, 'has 8200 bits; 2048 to 8192 are allowed'],
    ['far too long', { n: number(300_000) }, 'has 2400000 bits; 2048 to 8192 are allowed'],
    ['with a long exponent', { e: number(5) }, 'exponent'],
    ['with an even exponent', { e: 'AQAA' }, 'exponent'],
    ['with an exponent of one', { e: 'AQ' }, 'exponent'],
    ['without numbers', { n: 7 }, 'cannot be read'],
    ['of a curve nobody signs with', { kty: 'EC', crv: 'secp256k1' }, 'not known'],
    ['of no kind', { kty: 'x' }, 'not known'],
  ])('is left out when it is %s', (_, over, reason) => {
    const set = readKeySet({
      keys: [
        { ...rsa, ...over },
        { ...rsa, kid: 'b' },
      ],
    });
    expect(set?.faults).toEqual([{ index: 0, reason: expect.stringContaining(reason) }]);
    expect(set?.keys.map(({ kid }) => kid)).toEqual(['b']);
  });

  it('beyond the two hundredth is not looked at', () => {
    expect(readKeySet({ keys: Array.from({ length: 300 }, () => rsa) })?.keys).toHaveLength(200);
  });
});
