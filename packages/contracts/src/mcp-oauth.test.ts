import { expect, it } from 'vitest';
import { mcpChallenge, mcpGrantSecret, mcpRightsOf, readMcpPath } from './mcp-oauth.ts';
import { isWellFormedServiceKey } from './service-key.ts';

it('reads both forms of a server’s path, and nothing else', () => {
  expect(readMcpPath('/sums/mcp')).toEqual({ workspace: undefined, server: 'sums' });
  expect(readMcpPath('/area/sums/mcp')).toEqual({ workspace: 'area', server: 'sums' });
  for (const path of [
    '/mcp',
    '//sums/mcp',
    '/a/b/c/mcp',
    '/sums/mcp/',
    '/..%2f/mcp',
    '/sums/mcp?x',
  ])
    expect(readMcpPath(path), path).toBeUndefined();
});

it('gives rights for known scopes only', () => {
  expect([...mcpRightsOf('mcp:read')]).toEqual(['list', 'read']);
  expect([...mcpRightsOf('mcp:tools:call')]).toEqual(['call']);
  expect([...mcpRightsOf('openid constructor __proto__')]).toEqual([]);
});

it('makes a challenge whose quotes close, whatever the description holds', () => {
  const address = { workspace: undefined, server: 'sums' };
  expect(mcpChallenge('https://a.example', address)).toBe(
    'Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource/sums/mcp", scope="mcp"',
  );
  const description = 'the token\'s "key"\r\nX: y';
  const challenge = mcpChallenge('https://a.example', address, {
    error: 'invalid_token',
    description,
  });
  expect(challenge.replaceAll(/"[^"]*"/g, '')).toBe(
    'Bearer error=, resource_metadata=, error_description=, scope=',
  );
  expect(challenge).not.toMatch(/[\r\n]/);
});

it('hashes grants as what is no key', () => {
  expect(isWellFormedServiceKey(mcpGrantSecret('0190a0b0-0000-7000-8000-000000000000'))).toBe(
    false,
  );
});
