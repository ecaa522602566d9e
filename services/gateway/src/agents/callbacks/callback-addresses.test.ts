import { create } from '@bufbuild/protobuf';
import { SealedAddresses } from '@sluice/a2a';
import { config } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { resolvedKey } from '../../compiled/resolved-key.ts';
import { CallbackAddresses } from './callback-addresses.ts';

const source = create(config.KeySchema, {
  id: 'subject',
  name: 'ada',
  organisationId: 'o',
  workspaceId: 'w',
  workspaceSlug: 'team',
  userId: 'user-of-the-token',
});
const key = resolvedKey('ab'.repeat(32), source);
const token = { ...key, validUntilMs: 1 };
const addresses = (secret: string, publicUrl?: string) =>
  new CallbackAddresses(new SealedAddresses(secret), { public: publicUrl, mcp: undefined });
const here = addresses('secret', 'https://sluice.example.com/');
const url = 'https://callback.example/hook?a=ü';
const segmentOf = (address: string) => address.slice('https://sluice.example.com/v1/agent/'.length);

describe('addresses that agents call back', () => {
  it('hold where they lead and whose they are, of a token its user', () => {
    const byKey = here.address(url, 'server', key, undefined);
    expect(here.open(segmentOf(byKey))).toEqual({
      url,
      serverId: 'server',
      principal: 'subject:user-of-the-token',
      by: { keyHash: key.hashHex },
    });
    expect(here.address(url, 'server', key, 'elsewhere')).toBe(byKey);
    const { hashHex: _, ...byToken } = here.open(
      segmentOf(here.address(url, 'server', token, undefined)),
    ) as never as { hashHex: string; by: object };
    expect(byToken.by).toEqual({
      token: {
        id: 'subject',
        name: 'ada',
        organisationId: 'o',
        workspaceId: 'w',
        workspaceSlug: 'team',
        userId: 'user-of-the-token',
      },
    });
    expect(byKey).not.toContain('callback.example');
  });

  it('say what was given to the agent that shows them, and to no other', () => {
    const address = here.address(url, 'server', key, undefined);
    expect(here.given(address, 'server')).toBe(url);
    expect(here.given(address, 'another')).toBeUndefined();
    expect(here.given('https://callback.example/v1/agent/~AAAA', 'server')).toBeUndefined();
    expect(addresses('another secret').open(segmentOf(address))).toBeUndefined();
    // A way to an interface of an agent is none back.
    const sealed = new SealedAddresses('secret').seal('server', url);
    expect(here.open(sealed)).toBeUndefined();
  });

  it('are not made where nobody knows what ours are called, or of what is too long', () => {
    expect(() => addresses('secret').address(url, 'server', key, 'gateway.example')).toThrow(
      /MCP_GATEWAY_BASE_URL/,
    );
    expect(addresses('secret').address(url, 'server', key, '127.0.0.1:8787')).toMatch(
      /^http:\/\/127\.0\.0\.1:8787\/v1\/agent\/~/,
    );
    const long = `https://callback.example/${'a'.repeat(2000)}`;
    expect(() => here.address(long, 'server', key, undefined)).toThrow(/2000 bytes/);
    // What grows as it is written down is refused, where nobody could open it again.
    const quoted = `https://callback.example/${'"'.repeat(1900)}`;
    expect(() => here.address(quoted, 'server', token, undefined)).toThrow(/2000 bytes/);
    const longest = `https://callback.example/${'ü'.repeat(980)}`;
    const address = here.address(longest, 'server', token, undefined);
    expect(here.given(address, 'server')).toBe(longest);
  });
});
