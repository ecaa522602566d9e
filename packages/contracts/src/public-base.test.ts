import { describe, expect, it } from 'vitest';
import { toolBaseUrl } from './public-base.ts';
import { isReservedSlug, rootSegment } from './root-paths.ts';

const none = { mcp: undefined, public: undefined };
const from = (host: string) => ({ host, proto: 'http' as const });

describe('toolBaseUrl', () => {
  it('is what is configured, whatever was called', () => {
    const both = { mcp: 'https://mcp.example.com/', public: 'https://example.com' };
    expect(toolBaseUrl(both, from('localhost:1'))).toBe('https://mcp.example.com');
    expect(toolBaseUrl({ ...both, mcp: undefined }, from('evil'))).toBe('https://example.com');
  });

  it.each(['localhost:8787', '127.0.0.1:1', '127.8.9.1', '[::1]:8787', 'a.localhost'])(
    'is the origin that was called on %s',
    (host) => expect(toolBaseUrl(none, from(host))).toBe(`http://${host}`),
  );

  it.each([
    'evil.example',
    '10.0.0.1:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '[::2]',
  ])('is never %s', (host) => expect(toolBaseUrl(none, from(host))).toBe(''));

  it('is empty where nothing was called', () => expect(toolBaseUrl(none, undefined)).toBe(''));
});

describe('isReservedSlug', () => {
  it.each([...Object.values(rootSegment), 'DOCS', 'v2', 'v1beta', 'OAuth', 'mcp'])(
    '%s is',
    (slug) => expect(isReservedSlug(slug)).toBe(true),
  );
  it.each(['docs-2', 'my-health', 'vault', 'version', 'value-1'])('%s is not', (slug) =>
    expect(isReservedSlug(slug)).toBe(false),
  );
});
