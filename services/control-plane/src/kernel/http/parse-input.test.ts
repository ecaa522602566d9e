import { adminEndpoints } from '@sluice/contracts/admin';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseInput } from './parse-input.ts';

const own = z.enum(['ai_model', 'cost']);
const others = z.enum(['model', 'price']).transform((name) => `other ${name}`);

it('names all that may stand where there are several lists, and what may have been meant', () => {
  const schema = z.object({ fields: z.array(z.union([own, others])) });
  expect(parseInput(schema, { fields: ['cost', 'model'] }, 'body').fields).toEqual([
    'cost',
    'other model',
  ]);
  expect(() => parseInput(schema, { fields: ['cost', 'modle'] }, 'body')).toThrow(
    'body.fields[1]: must be one of ai_model, cost, model, price; did you mean model?',
  );
});

it('says nothing of lists where something else may stand, too', () => {
  const schema = z.object({ field: z.union([own, z.string().startsWith('@')]) });
  expect(() => parseInput(schema, { field: 'x' }, 'body')).toThrow('must start with');
});

it('says of a parameter that came twice that it did', () => {
  const schema = z.object({ status: z.string().optional() });
  expect(() => parseInput(schema, { status: ['200', '446'] }, 'query')).toThrow(
    'query.status: must be given once; values of a list have commas between them',
  );
  expect(() => parseInput(schema, { status: ['200'] }, 'body')).toThrow('expected string');
});

it('says of a name that is none why', () => {
  const schema = z.object({
    headers: z.record(z.string().regex(/^\S+$/, 'has a blank'), z.string()),
  });
  expect(() => parseInput(schema, { headers: { 'x a': 'b' } }, 'body')).toThrow(
    'body.headers.x a: has a blank',
  );
});

it('refuses a field that says two things under its two names, and tells it who takes any', () => {
  const schema = z.object({
    isDefault: z.unknown().optional(),
    is_default: z.unknown().optional(),
  });
  const read = (value: object, isLenient = false) => {
    const notes = { isLenient, general: [], warnings: [] as string[] };
    parseInput(schema, value, 'body', notes);
    return notes.warnings;
  };
  const fault = 'body.isDefault: is the same as is_default, and says something else';
  expect(() => read({ isDefault: true, is_default: 0 })).toThrow(fault);
  expect(read({ isDefault: true, is_default: 0 }, true)).toEqual([fault]);
  expect(read({ isDefault: true, is_default: 1 })).toEqual([]);
  expect(read({ isDefault: 0 })).toEqual([]);
});

const groupsQuery = adminEndpoints['scim-groups.list'].query as z.ZodType<{ currentPage: number }>;

it.each(['current_page', 'currentPage'])(
  'refuses another page than that of %s, where a list has both',
  (usual) => {
    const read = (value: object, isLenient = false) => {
      const notes = { isLenient, general: [], warnings: [] as string[] };
      const { currentPage } = parseInput(groupsQuery, value, 'query', notes);
      return { currentPage, warnings: notes.warnings };
    };
    const fault = `query.page: is the same as ${usual}, and says something else`;
    expect(() => read({ page: '0', [usual]: '1' })).toThrow(fault);
    expect(read({ page: '0', [usual]: '1' }, true)).toEqual({ currentPage: 0, warnings: [fault] });
    expect(read({ page: '1', [usual]: '1' })).toEqual({ currentPage: 1, warnings: [] });
    expect(read({ [usual]: '1' })).toEqual({ currentPage: 1, warnings: [] });
  },
);
