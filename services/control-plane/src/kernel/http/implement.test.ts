import { expect, it } from 'vitest';
import { implementAll } from './implement.ts';

const done = async () => {};
const some = { list: async () => ({ total: 0, data: [] }), update: done, delete: done };
const all = { ...some, create: async () => ({ id: '' }), read: async () => ({}) as never };

it('binds the handlers of a resource to its operations', () => {
  const operations = Object.values(implementAll('labels', all));
  expect(operations.map(({ endpoint }) => endpoint.operationId).sort()).toEqual([
    'createLabel',
    'deleteLabel',
    'getLabel',
    'listLabels',
    'updateLabel',
  ]);
});

it('does not compile without a handler for each operation, nor with one for what is not published', () => {
  // @ts-expect-error  `create` and `read` are missing
  implementAll('labels', some);
  // @ts-expect-error  labels are not renamed
  expect(() => implementAll('labels', { ...all, rename: done })).toThrow();
  // @ts-expect-error  there is no such resource
  expect(() => implementAll('no-labels', all)).toThrow();
});
