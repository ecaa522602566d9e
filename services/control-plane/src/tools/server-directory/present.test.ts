import { describe, expect, it } from 'vitest';
import { namespaceOf } from './present.ts';

describe('namespaceOf', () => {
  it.each([
    ['https://mcp.example.com', 'com.example.mcp'],
    ['https://example.com:8443/gateway', 'com.example'],
    ['http://localhost:8787', 'local.sluice'],
    ['http://192.0.2.7', 'local.sluice'],
    ['http://[2001:db8::1]:8787', 'local.sluice'],
    ['', 'local.sluice'],
  ])('of %s is %s', (base, namespace) => {
    expect(namespaceOf(base)).toBe(namespace);
  });
});
