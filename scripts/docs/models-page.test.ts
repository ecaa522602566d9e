import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelFamilies } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { modelsPage } from './models-page.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/models.md'), 'utf8');

describe('docs/models.md', () => {
  it('says what the facts say: run npm run generate after a change', () => {
    expect(page).toBe(modelsPage());
  });

  it('has a row of every model', () => {
    for (const { rows } of modelFamilies)
      for (const { facts } of rows)
        expect(
          page.split('\n').filter((line) => line.startsWith(`| \`${facts.model}\``)),
        ).toHaveLength(1);
  });
});
