import { expect, it } from 'vitest';
import { systemEntry } from '../audit/system-entry.ts';
import { createRecordRefusal } from './record-refusal.ts';

it('holds up nobody who was refused because the database did not answer, and writes all the same', async () => {
  const asked: unknown[] = [];
  const silent = {
    $queryRaw: (...statement: unknown[]) => {
      asked.push(statement);
      return new Promise(() => {});
    },
  };
  const record = createRecordRefusal({ client: silent as never, logger: {} as never });
  const entryOf = (organisationId: string) =>
    systemEntry({
      organisationId,
      timestamp: new Date(),
      method: 'PUT',
      uri: 'test',
      resourceType: 'policies',
      action: 'update',
    });
  const soon = new Promise((resolve) => setImmediate(resolve, 'waits'));
  const told = async (organisationId: string, cause: Error) =>
    Promise.race([record(entryOf(organisationId), cause).then(() => 'told'), soon]);
  expect(
    await Promise.all([
      told('org-1', new Error('Query read timeout')),
      told('org-2', new Error('the key may not do that')),
    ]),
  ).toEqual(['told', 'waits']);
  expect(asked).toHaveLength(2);
});
