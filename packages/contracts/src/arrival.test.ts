import { describe, expect, it } from 'vitest';
import { arrivalReader } from './arrival.ts';

const headers = {
  host: 'gateway.example:8787',
  'x-forwarded-for': '6.6.6.6, 203.0.113.9',
  'x-forwarded-host': 'evil.example, sluice.example',
  'x-forwarded-proto': 'https',
};
const direct = { host: 'gateway.example:8787', proto: 'http' };

describe('arrivalReader', () => {
  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '198.51.100.1'])(
    'believes nothing that %s says of others, unless it is listed',
    (address) => {
      const arrival = arrivalReader([])({ address, encrypted: false, headers });
      expect(arrival).toEqual({ address: address.replace('::ffff:', ''), ...direct });
    },
  );

  it('believes a listed proxy as far as listed hops reach, and the nearest of several hosts', () => {
    const read = arrivalReader(['10.0.0.0/8', '203.0.113.9']);
    const request = { address: '::ffff:10.1.2.3', encrypted: false, headers };
    expect(read(request)).toEqual({ address: '6.6.6.6', host: 'sluice.example', proto: 'https' });
    const one = arrivalReader(['10.0.0.0/8'])(request);
    expect(one.address).toBe('203.0.113.9');
  });

  it('takes nothing for an address or a host that is none', () => {
    const read = arrivalReader(['10.0.0.1']);
    const of = (sent: Record<string, string>) =>
      read({ address: '10.0.0.1', encrypted: true, headers: { host: 'a.example', ...sent } });
    expect(of({ 'x-forwarded-for': '<script>' }).address).toBe('10.0.0.1');
    expect(of({ 'x-forwarded-for': `${'1.1.1.1,'.repeat(9000)}2.2.2.2` }).address).toBe('2.2.2.2');
    expect(of({ 'x-forwarded-host': 'a/b' }).host).toBe('a.example');
    expect(of({ 'x-forwarded-proto': 'javascript' }).proto).toBe('https');
    expect(of({ host: 'a b' }).host).toBeUndefined();
  });

  it.each(['proxy.internal', '10.0.0.0/x', '10.0.0.0/8/8x', ''])(
    'refuses the entry %j',
    (entry) => {
      expect(() => arrivalReader([entry])).toThrow('neither an address nor a range');
    },
  );
});
