import { expect, it } from 'vitest';
import { z } from 'zod';
import { keptFields, keptOnly, openObject } from './kept-only.ts';

const schema = z.object({
  name: z.string(),
  age: keptOnly(z.number().nullable(), 'nobody asks').optional(),
  more: z.object({ list: keptOnly(z.array(z.string()), 'nor here').nullish() }).optional(),
  rows: z.array(z.object({ row: keptOnly(z.string(), 'nor there').optional() })).optional(),
});

it.each<[string, unknown, string[]]>([
  ['nothing', { name: 'x' }, []],
  ['what is cleared or empty', { age: null, more: { list: [] } }, []],
  ['through what is wrapped around it', { age: 3 }, ['age: nobody asks']],
  ['at any depth', { more: { list: ['a'] } }, ['more.list: nor here']],
  ['in a list, once', { rows: [{}, { row: 'a' }, { row: 'b' }] }, ['rows.1.row: nor there']],
])('keptFields names %s', (_what, value, expected) => {
  const found = keptFields(schema, value).map(({ path, why }) => `${path.join('.')}: ${why}`);
  expect(found).toEqual(expected);
});

it('keptFields names a body of which nothing does anything', () => {
  const body = keptOnly(
    z.object({ a: z.string() }).refine(() => true),
    'not yet',
  );
  expect(keptFields(body.prefault({ a: 'x' }), { a: 'y' })).toEqual([
    { path: [], why: 'not yet', known: [] },
  ]);
});

it('keptFields names what an open object does not know, with what it does', () => {
  const open = openObject({ timeout: z.number().optional() }).nullish();
  expect(keptFields(z.object({ open }), { open: { timeout: 1, timeuot: 1 } })).toEqual([
    { path: ['open', 'timeuot'], why: expect.any(String), known: ['timeout'] },
  ]);
});
