import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SectionTable } from './section-table.ts';
import { configs } from './sections/configs.ts';

const encoded = (id: string, slug: string, bodyJson = '') =>
  toBinary(config.ConfigSchema, create(config.ConfigSchema, { id, slug, bodyJson }));

describe('SectionTable', () => {
  it('after any changes holds what a table has that is made of what is left, under both names', async () => {
    const change = fc.record({
      id: fc.integer({ min: 0, max: 12 }),
      slug: fc.integer({ min: 0, max: 30 }),
      isGone: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 12 }), check),
    );
    async function check(changes: { id: number; slug: number; isGone: boolean }[][]) {
      let table = new SectionTable(configs);
      const left = new Map<string, string>();
      for (let index = 0; index < 6; index += 1) {
        table.add(encoded(`id-${index}`, `slug-${index}`));
        left.set(`id-${index}`, `slug-${index}`);
      }
      for (const [number, list] of changes.entries()) {
        const upserts = new Map<string, Uint8Array>();
        const gone = new Set<string>();
        for (const { id, slug, isGone } of list) {
          const name = `slug-${slug}`;
          const isTaken = [...left].some(([other, its]) => its === name && other !== `id-${id}`);
          upserts.delete(`id-${id}`);
          gone.delete(`id-${id}`);
          if (isGone || isTaken) {
            gone.add(`id-${id}`);
            left.delete(`id-${id}`);
          } else {
            upserts.set(`id-${id}`, encoded(`id-${id}`, name, String(number)));
            left.set(`id-${id}`, name);
          }
        }
        table = table.with([...upserts.values()], [...gone]);
        if (number % 5 === 4) table = await table.renewed();
        for (let index = 0; index <= 12; index += 1)
          expect(table.get(`id-${index}`)?.slug).toBe(left.get(`id-${index}`));
        for (let index = 0; index <= 30; index += 1) {
          const owner = [...left].find(([, name]) => name === `slug-${index}`)?.[0];
          expect(table.get(`slug-${index}`)?.id).toBe(owner);
        }
        const ids = [...table.encoded()].map((each) => fromBinary(config.ConfigSchema, each).id);
        expect(ids.sort()).toEqual([...left.keys()].sort());
      }
    }
  });

  it('of one state stays as it is when the next is made', () => {
    const first = new SectionTable(configs);
    first.add(encoded('a', 'pc-a', 'one'));
    const second = first.with([encoded('a', 'pc-a', 'two'), encoded('b', 'pc-b')], []);
    const third = second.with([], ['a']);
    expect([first, second, third].map((each) => each.get('pc-a')?.bodyJson)).toEqual([
      'one',
      'two',
      undefined,
    ]);
    expect([first, second, third].map((each) => each.get('b')?.slug)).toEqual([
      undefined,
      'pc-b',
      'pc-b',
    ]);
  });

  it('is worn after many changes, and as new when it is laid out anew', async () => {
    let table = new SectionTable(configs);
    for (let index = 0; index < 600; index += 1) {
      expect(table.isWorn).toBe(index > 512);
      table = table.with([encoded(`${index}`, `pc-${index}`)], []);
    }
    table = await table.renewed();
    expect(table.isWorn).toBe(false);
    expect([...table.encoded()]).toHaveLength(600);
  });
});
