import { describe, expect, it } from 'vitest';
import { readProxies } from './proxies.ts';

const readFor = (noProxy: string) =>
  readProxies({ httpsProxy: 'http://proxy.corp:3128', httpProxy: undefined, noProxy });
const isDirect = (noProxy: string, hostname: string, port = 443) =>
  readFor(noProxy)?.find('https:', hostname, port) === undefined;

describe('readProxies', () => {
  it('takes the proxy of the address’s protocol', () => {
    const proxies = readProxies({
      httpsProxy: 'http://user:p%40ss@secure.corp:3128',
      httpProxy: 'plain.corp',
      noProxy: undefined,
    });
    expect(proxies?.find('https:', 'a.example', 443)).toEqual({
      secure: false,
      hostname: 'secure.corp',
      port: 3128,
      authorization: `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    });
    expect(proxies?.find('http:', 'a.example', 80)).toMatchObject({
      hostname: 'plain.corp',
      port: 80,
      authorization: undefined,
    });
  });

  it('is nothing without a proxy', () => {
    expect(
      readProxies({ httpsProxy: undefined, httpProxy: undefined, noProxy: '*' }),
    ).toBeUndefined();
    expect(readFor('')?.find('http:', 'a.example', 80)).toBeUndefined();
  });

  it.each(['socks5://proxy:1080', 'http://', 'ht tp://secret'])('refuses %j unseen', (url) => {
    const read = () => readProxies({ httpsProxy: url, httpProxy: undefined, noProxy: undefined });
    expect(read).toThrow('address of a proxy');
    expect(read).not.toThrow(/secret/);
  });
});

describe('NO_PROXY', () => {
  it.each([
    ['example.com', 'example.com'],
    ['example.com', 'api.example.com'],
    ['.example.com', 'api.example.com'],
    ['.example.com', 'example.com'],
    ['*.example.com', 'api.example.com'],
    ['EXAMPLE.com', 'example.com'],
    ['other.org, example.com', 'example.com'],
    ['other.org example.com', 'example.com'],
    ['*', 'anything.example'],
    ['10.1.2.3', '10.1.2.3'],
    ['10.0.0.0/8', '10.1.2.3'],
    ['::1', '::1'],
    ['[::1]', '0:0:0:0:0:0:0:1'],
    ['fd00::/8', 'fd12::1'],
    ['example.com:443', 'example.com'],
    ['[::1]:443', '::1'],
  ])('%s spares %s', (list, hostname) => {
    expect(isDirect(list, hostname)).toBe(true);
  });

  it.each([
    ['example.com', 'notexample.com'],
    ['example.com', 'example.com.evil.org'],
    ['api.example.com', 'example.com'],
    ['example.com:8443', 'example.com'],
    ['10.0.0.0/8', '11.1.2.3'],
    ['10.0.0.0/33', '10.1.2.3'],
    ['0.1.2.3', '10.1.2.3'],
    ['', 'localhost'],
    ['', '127.0.0.1'],
    ['example.org', '127.0.0.1'],
  ])('%j does not spare %s', (list, hostname) => {
    expect(isDirect(list, hostname)).toBe(false);
  });
});
