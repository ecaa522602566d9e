import { create } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { findMcpServer } from '../compiled/mcp-servers.ts';
import type { Table } from '../compiled/tables.ts';
import { unserved } from './unserved.ts';
import { timesOf, type UpstreamDeps } from './upstream.ts';

function compiled(change: Parameters<typeof create<typeof config.McpServerSchema>>[1]) {
  const source = create(config.McpServerSchema, {
    integrationId: 'i',
    authType: 'none',
    ...change,
  });
  const server = findMcpServer({ get: () => source } as unknown as Table<config.McpServer>, 's');
  if (server === undefined) throw new Error('it was given');
  return server;
}

describe('unserved', () => {
  it.each([
    ['a policy that is none', { policyJson: '[1' }, /policy .* cannot be read/],
    [
      'rules of a later release',
      { policyJson: '{"access":[{"rules":[{"effect":"deny","query":{"a":{"$later":1}}}]}]}' },
      /policy .* cannot be read/,
    ],
    ['a credential of a later release', { authType: 'later' }, /auth_type later/],
  ])('tells of %s', (_, change, expected) => {
    expect(unserved(compiled(change))).toMatch(expected);
  });

  it('says nothing of what is served', () => {
    expect(unserved(compiled({ policyJson: '{"denied_as":"unknown"}' }))).toBeUndefined();
  });
});

describe('the time of a call', () => {
  const deps = { timeoutMs: 60_000 } as UpstreamDeps;
  it.each([
    ['', 60_000, 600_000],
    ['{"request_timeout":50}', 50, 600_000],
    ['{"request_timeout":50,"request_timeout_max":70}', 50, 70],
    ['{"request_timeout":700000}', 700_000, 700_000],
  ])('is as the policy %j says', (policyJson, timeoutMs, wholeMs) => {
    expect(timesOf(compiled({ policyJson }), deps)).toEqual({ timeoutMs, wholeMs });
  });
});
