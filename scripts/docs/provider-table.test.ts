import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { providerIds } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { providerPage } from './provider-table.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/providers.md'), 'utf8');

describe('docs/providers.md', () => {
  it('says what the catalogue says: run npm run generate after a change', () => {
    expect(page).toBe(providerPage());
  });

  it('names every provider in both tables', () => {
    for (const id of providerIds())
      expect(page.split('\n').filter((line) => line.startsWith(`| \`${id}\``))).toHaveLength(2);
  });
});
