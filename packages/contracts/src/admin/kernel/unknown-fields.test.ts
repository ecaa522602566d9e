import { expect, it } from 'vitest';
import { z } from 'zod';
import { unknownFields } from './unknown-fields.ts';

const limit = z.object({ value: z.number(), unit: z.string().optional() });

const schema = z
  .object({
    name: z.string(),
    limits: z.array(limit).nullish(),
    tags: z.record(z.string(), limit).optional(),
    free: z.unknown(),
    settings: z.looseObject({ own: limit.optional() }).default({}),
    prepared: z.preprocess((value) => value, limit).optional(),
    made: limit.transform(({ value }) => value).optional(),
    kind: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('a'), ofA: z.string() }),
        z.object({ type: z.literal('b'), ofB: z.string() }),
      ])
      .optional(),
    either: z.union([z.string(), limit, z.object({ list: z.array(limit) })]).optional(),
  })
  .and(z.object({ page: z.string().optional() }));

it.each<[string, unknown, string[]]>([
  ['nothing', { name: 'x', page: '1' }, []],
  ['a field of neither side', { nam: 'x', pages: 1 }, ['nam', 'pages']],
  ['within a list', { limits: [{ value: 1 }, { valeu: 1 }] }, ['limits.1.valeu']],
  ['within what has any names', { tags: { any: { value: 1, y: 2 } } }, ['tags.any.y']],
  ['where anything may be', { free: { any: { thing: 1 } } }, []],
  ['below a loose object', { settings: { more: { x: 1 }, own: { x: 1 } } }, ['settings.own.x']],
  ['before it is prepared', { prepared: { value: 1, x: 1 } }, ['prepared.x']],
  ['before something is made of it', { made: { value: 1, x: 1 } }, ['made.x']],
  ['of another kind', { kind: { type: 'a', ofA: '', ofB: '' } }, ['kind.ofB']],
  ['of no kind that there is', { kind: { type: 'c', ofB: '', ofC: '' } }, ['kind.ofC']],
  [
    'of several forms',
    { either: { value: 1, list: [{ x: 1 }], z: 1 } },
    ['either.list.0.x', 'either.z'],
  ],
  ['of a value of another type', { limits: 'none', either: 5, name: {} }, []],
  [
    'with a name that objects have',
    { constructor: 1, __proto__x: 1 },
    ['constructor', '__proto__x'],
  ],
])('finds %s', (_what, value, found) => {
  expect(unknownFields(schema, value).map(({ path }) => path.join('.'))).toEqual(found);
});

it('names what there is, and stops at twenty', () => {
  expect(unknownFields(limit, { x: 1 })).toEqual([{ path: ['x'], known: ['value', 'unit'] }]);
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 1]));
  expect(unknownFields(limit, many)).toHaveLength(20);
  expect(unknownFields(schema, { limits: Array(1000).fill({ x: 1 }) })).toHaveLength(20);
});
