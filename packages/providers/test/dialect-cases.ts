import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import { expect, it } from 'vitest';
import { findProvider } from '../src/catalog.ts';
import type { JsonObject } from '../src/contract.ts';
import { findTranslation } from '../src/translation/find-translation.ts';
import { contextFor, okHead, pretty } from './fixtures.ts';

interface DialectCase {
  endpoint: Endpoint;
  model: string;
  body: JsonObject;
  /** The vendor's. */
  reply: JsonObject;
}

/** Runs the cases of `fixtures/<name>.json` of an adapter; what becomes of each stands in its golden file. */
export function dialectCases(providerId: string, folder: string, name: string): void {
  const provider = findProvider(providerId)!;
  const cases: Record<string, DialectCase> = JSON.parse(
    readFileSync(join(folder, `${name}.json`), 'utf8'),
  );
  for (const [title, { endpoint, model, body, reply }] of Object.entries(cases))
    it(`${name}: ${title}, there and back`, async () => {
      const context = contextFor(provider, true, { model, request: body });
      const call = findTranslation(provider, endpoint, context);
      const before = structuredClone(body);
      const encoded = call.encode(body, context);
      expect(body).toEqual(before);
      const decoded = call.decode(Buffer.from(JSON.stringify(reply)), context, okHead);
      const shown = {
        ...encoded,
        reply: JSON.parse(String(decoded.body)),
        facts: decoded.facts,
      };
      const golden = `${name}.${title.replaceAll(' ', '-')}.json`;
      await expect(pretty(shown)).toMatchFileSnapshot(join(folder, 'golden', golden));
      for (const text of ['', '[]', '{"error":1}', '<html>'])
        expect(() => call.decode(Buffer.from(text), context, okHead)).toThrow(
          expect.objectContaining({ code: 'upstream.invalid_response' }),
        );
    });
}
