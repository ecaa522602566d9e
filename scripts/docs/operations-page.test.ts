import { operationIds, publishedOperations } from '@sluice/contracts';
import { expect, it } from 'vitest';
import { operationsPage } from './operations-page.ts';

it('docs/operations.md names every operation', () => {
  for (const id of operationIds) expect(operationsPage()).toContain(`| \`${id}\` |`);
});

it('says of each published operation how it is served', () => {
  expect(publishedOperations).toHaveLength(83);
  for (const { at, operation, other } of publishedOperations)
    expect(operation?.id ?? other, at).toBeDefined();
});
