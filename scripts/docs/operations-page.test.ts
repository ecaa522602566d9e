import { operationIds } from '@sluice/contracts';
import { expect, it } from 'vitest';
import { operationsPage } from './operations-page.ts';

it('docs/operations.md names every operation', () => {
  for (const id of operationIds) expect(operationsPage()).toContain(`| \`${id}\` |`);
});
