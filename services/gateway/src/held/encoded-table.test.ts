import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { EncodedTable } from './encoded-table.ts';
import { configs } from './sections/configs.ts';

type ConfigTable = EncodedTable<typeof config.ConfigSchema>;

const encoded = (slug: string, bodyJson = `{"of":"${slug}"}`) =>
  toBinary(
    config.ConfigSchema,
    create(config.ConfigSchema, {
      id: `id-${slug}`,
      slug,
      versionId: `v-${slug}`,
      name: `Ünïcode ${slug}`,
      bodyJson,
    }),
  );

function tableOf(slugs: readonly string[]): ConfigTable {
  const table = new EncodedTable(configs);
  for (const slug of slugs) table.add(encoded(slug));
  return table;
}

describe('EncodedTable', () => {
  it('finds each of many by slug and by id, and nothing else', () => {
    const slugs = Array.from({ length: 20_000 }, (_, index) => `pc-${index}`);
    const table = tableOf(slugs);
    expect(table.size).toBe(20_000);
    for (const slug of slugs) {
      expect(table.get(slug)?.bodyJson).toBe(`{"of":"${slug}"}`);
      expect(table.get(`id-${slug}`)?.slug).toBe(slug);
    }
    for (const other of ['', 'pc-', 'pc-20000', 'v-pc-1', 'id-', 'Ünïcode pc-1', '\0'])
      expect(table.get(other)).toBeUndefined();
  });

  it('of nothing finds nothing', () => {
    expect(new EncodedTable(configs).get('pc-1')).toBeUndefined();
    expect([...new EncodedTable(configs).encoded()]).toEqual([]);
  });

  it('gives back every field', () => {
    expect(tableOf(['pc-ä', 'pc-b']).get('pc-ä')).toMatchObject({
      id: 'id-pc-ä',
      slug: 'pc-ä',
      versionId: 'v-pc-ä',
      name: 'Ünïcode pc-ä',
      bodyJson: '{"of":"pc-ä"}',
    });
  });

  it('holds configs larger than its buffers between small ones', () => {
    const table = new EncodedTable(configs);
    const sizes = [10, 3_000_000, 20, 1_048_576, 700_000, 700_000, 30];
    for (const [index, size] of sizes.entries())
      table.add(encoded(`pc-${index}`, 'x'.repeat(size)));
    for (const [index, size] of sizes.entries())
      expect(table.get(`pc-${index}`)?.bodyJson).toHaveLength(size);
  });

  it('does not depend on the bytes it was given', () => {
    const bytes = encoded('pc-1');
    const table = new EncodedTable(configs);
    table.add(bytes);
    bytes.fill(0);
    expect(table.get('pc-1')?.slug).toBe('pc-1');
  });

  it('gives its configs on in their order, as they came', () => {
    const slugs = Array.from({ length: 100 }, (_, index) => `pc-${index}`);
    expect([...tableOf(slugs).encoded()].map((each) => Buffer.from(each))).toEqual(
      slugs.map((slug) => Buffer.from(encoded(slug))),
    );
  });
});
