import { describe, expect, it } from 'vitest';
import { isLoopbackAddress } from './loopback.ts';

describe('isLoopbackAddress', () => {
  it.each([
    '127.0.0.1:8790',
    '127.9.9.9',
    'localhost:8790',
    'LOCALHOST',
    '[::1]:8790',
    '::1',
    'dns:///localhost:8790',
    'dns:localhost:8790',
    'ipv4:127.0.0.1:1,127.0.0.2:2',
    'unix:/run/sluice.sock',
  ])('%s is', (address) => expect(isLoopbackAddress(address)).toBe(true));

  it.each([
    'control-plane:8790',
    '10.0.0.1:8790',
    '0.0.0.0:8790',
    '127.0.0.1.example:8790',
    'localhost.example:8790',
    '[::2]:8790',
    'dns:///control-plane:8790',
    'dns://localhost/control-plane:8790',
    'ipv4:127.0.0.1:1,10.0.0.1:2',
    'xds:///localhost',
    '',
  ])('%s is not', (address) => expect(isLoopbackAddress(address)).toBe(false));
});
