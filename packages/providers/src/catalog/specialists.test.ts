import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { baseUrlOf, pathOf } from '../address.ts';
import { authHeaders } from '../auth-headers.ts';
import type { CallFacts } from '../call-facts.ts';
import { findProvider } from '../catalog.ts';
import type { JsonObject } from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { specialists } from './specialists.ts';

interface CatalogueFixture {
  apiKey: string;
  requests: {
    endpoint: Endpoint;
    model?: string;
    body?: JsonObject;
    url: string;
    headers: Record<string, string>;
  }[];
}

describe('specialists', () => {
  for (const provider of specialists) {
    const file = join(import.meta.dirname, '../../fixtures', `${provider.id}.json`);
    const fixture: CatalogueFixture = JSON.parse(readFileSync(file, 'utf8'));

    it(`${provider.id} has a recorded request for every endpoint`, () => {
      expect(findProvider(provider.id)).toBe(provider);
      const recorded = new Set(fixture.requests.map(({ endpoint }) => endpoint));
      expect([...recorded].sort()).toEqual(Object.keys(provider.endpoints).sort());
    });

    for (const { endpoint, model = '', body, url, headers } of fixture.requests)
      it(`${provider.id} is asked for ${endpoint} ${model} as recorded`, () => {
        const facts: CallFacts = {
          model,
          stream: false,
          setting: () => undefined,
          request: body ?? {},
        };
        const { entry } = findTranslation(provider, endpoint, facts);
        const credential = { apiKey: fixture.apiKey, configurations: {} };
        expect({
          url: baseUrlOf(provider, entry, facts) + pathOf(entry, facts),
          headers: authHeaders(provider, credential, {}, entry),
        }).toEqual({ url, headers });
      });
  }

  it('hands on who Stability is to know', () => {
    const stability = findProvider('stability-ai')!;
    const sent = { 'x-service-stability-client-id': 'my-app', 'stability-client-version': '1.2' };
    expect(authHeaders(stability, { apiKey: 'k', configurations: {} }, sent)).toEqual({
      authorization: 'Bearer k',
      'stability-client-id': 'my-app',
      'stability-client-version': '1.2',
    });
  });
});
