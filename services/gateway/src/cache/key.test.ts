import { canonicalJson } from '@sluice/json';
import type { JsonObject } from '@sluice/providers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleCacheRequest } from '../../test/cache-request.ts';
import { cacheKey } from './key.ts';
import type { CacheRequest } from './request.ts';

const keyOf = (over: Partial<CacheRequest> = {}) => cacheKey(exampleCacheRequest(over));
const body = fc.dictionary(
  fc.string().filter((key) => key !== 'stream' && key !== 'stream_options'),
  fc.jsonValue({ maxDepth: 3 }),
  { noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;

/** The same value with its keys the other way round, at every level. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reordered(member)]),
  );
}

describe('cacheKey', () => {
  it('is the same whatever the order of the keys', () => {
    fc.assert(
      fc.property(body, fc.dictionary(fc.string(), fc.string()), (sentJson, metadata) => {
        const other = {
          sentJson: reordered(sentJson) as JsonObject,
          metadata: reordered(metadata) as Record<string, string>,
        };
        expect(keyOf(other)).toBe(keyOf({ sentJson, metadata }));
      }),
    );
  });

  it('is another one for another body', () => {
    fc.assert(
      fc.property(body, body, (one, other) => {
        const isSame = canonicalJson(one) === canonicalJson(other);
        expect(keyOf({ sentJson: one }) === keyOf({ sentJson: other })).toBe(isSame);
        expect(JSON.parse(canonicalJson(one))).toEqual(JSON.parse(JSON.stringify(one)));
      }),
    );
  });

  it('is another one for every other part', () => {
    const others: Partial<CacheRequest>[] = [
      {},
      { organisationId: 'org-2' },
      { workspaceId: 'ws-2' },
      { credential: 'sk-1' },
      { provider: 'groq' },
      { origin: 'https://other.example.com' },
      { path: '/v1/chat/completions?api-version=2' },
      { method: 'PUT' },
      { endpoint: 'messages' },
      { model: 'm2' },
      { metadata: { team: 'a' } },
      { metadata: { team: 'b' } },
      { metadata: { _user: 'a' } },
      { namespace: 'n' },
      { namespace: '' },
      { namespace: 'headers' },
      { upstreamHeaders: { 'x-team': 'a' } },
      { upstreamHeaders: { 'x-team': ['a', 'b'] } },
      { strictOpenAiCompliance: false },
      { checkedBy: 'a' },
      { namespace: 'n', forwardsCallersHeaders: true, upstreamHeaders: { 'x-team': 'a' } },
    ];
    expect(new Set(others.map(keyOf)).size).toBe(others.length);
  });

  it('cannot be had by moving text from one part to the next', () => {
    const parts = fc.array(fc.string(), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const key = ([
          organisationId = '',
          workspaceId = '',
          credential,
          provider,
          model,
        ]: string[]) => keyOf({ organisationId, workspaceId, credential, provider, model });
        expect(key(one) === key(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
    expect(keyOf({ organisationId: 'a', workspaceId: 'bc' })).not.toBe(
      keyOf({ organisationId: 'ab', workspaceId: 'c' }),
    );
    expect(keyOf({ metadata: { a: 'b","c' } })).not.toBe(keyOf({ metadata: { a: 'b', c: '' } }));
  });

  it('does not depend on the form of the answer', () => {
    const sentJson: JsonObject = {
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
    };
    expect(keyOf({ sentJson })).toBe(keyOf({ sentJson: { model: 'm' } }));
  });

  it('does not depend on credentials and trace headers, nor on the case of names', () => {
    const upstreamHeaders = {
      authorization: 'Bearer 1',
      'X-Api-Key': '2',
      traceparent: '00-3',
      'x-b3-traceid': '4',
      'X-Team': 'a',
    };
    expect(keyOf({ upstreamHeaders })).toBe(keyOf({ upstreamHeaders: { 'x-team': 'a' } }));
  });

  it('with a namespace does not depend on headers', () => {
    const upstreamHeaders = { 'x-team': 'a' };
    expect(keyOf({ namespace: 'n', upstreamHeaders })).toBe(keyOf({ namespace: 'n' }));
  });

  it('tells lone surrogates apart', () => {
    expect(keyOf({ sentJson: { a: '\ud800' } })).not.toBe(keyOf({ sentJson: { a: '\ud801' } }));
  });
});
