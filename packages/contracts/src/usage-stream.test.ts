import { describe, expect, it } from 'vitest';
import { parseNatsAddresses } from './usage-stream.ts';

describe('parseNatsAddresses', () => {
  it.each([
    ['nats://127.0.0.1:4222', { servers: ['127.0.0.1:4222'] }],
    ['a:1, nats://b:2 ,', { servers: ['a:1', 'b:2'] }],
    ['nats://me:p%40ss@a:1,nats://b:2', { servers: ['a:1', 'b:2'], user: 'me', pass: 'p@ss' }],
    ['nats://secret@a:1', { servers: ['a:1'], token: 'secret' }],
    ['tls://me:pw@a:1', { servers: ['a:1'], user: 'me', pass: 'pw', tls: {} }],
    ['nats://[::1]:4222', { servers: ['[::1]:4222'] }],
  ])('reads %s', (text, expected) => expect(parseNatsAddresses(text)).toEqual(expected));

  it('refuses what is not an address without repeating it', () =>
    expect(() => parseNatsAddresses('nats://me:pw@a:not-a-port')).toThrow(
      new TypeError('must be nats://host:port or tls://host:port, several with commas'),
    ));
});
