import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** Keys that are there throughout, many of them made in the same millisecond. */
const lastingCount = 240;

let h: Harness;
let workspace: { id: string; slug: string; key: string };
/** Their ids, in the order in which they are listed. */
let lasting: string[];

beforeAll(async () => {
  h = await startHarness();
  const { body } = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Crowded' });
  const { id } = await h.db.workspace.findFirstOrThrow({ where: { slug: body.slug } });
  workspace = { id, slug: body.slug, key: await createServiceKey(h, id) };
  await h.db.$executeRawUnsafe(`
    INSERT INTO api_keys (id, organisation_id, workspace_id, type, name, slug, created_at)
    SELECT gen_random_uuid(), organisation_id, id, 'workspace-service', 'Lasting ' || n, 'lasting-' || n,
      TIMESTAMPTZ '2024-05-05T12:00:00Z' - (n / 80) * INTERVAL '1 ms'
    FROM workspaces, generate_series(0, ${lastingCount - 1}) AS n WHERE id = '${id}'`);
  const rows = await h.db.apiKey.findMany({
    where: { workspaceId: id, name: { startsWith: 'Lasting' } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  lasting = rows.map((row) => row.id);
});
afterAll(() => h.stop());

interface Row {
  id: string;
  created_at: string;
}

async function page(number: number, size: number): Promise<{ ids: string[]; total: number }> {
  const answer = await h
    .as(h.first.admin_key)
    .get(`/api-keys?workspace_id=${workspace.slug}&current_page=${number}&page_size=${size}`);
  expect(answer.status, answer.text).toBe(200);
  const rows = answer.body.data as Row[];
  const places = rows.map((row) => `${row.created_at} ${row.id}`);
  expect(places).toEqual([...places].sort().reverse());
  return { ids: rows.map((row) => row.id), total: answer.body.total };
}

/** Every page, one after the other. */
async function walk(size: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; ; number += 1) {
    const next = await page(number, size);
    ids.push(...next.ids);
    if (next.ids.length < size) return ids;
  }
}

const lastingAmong = (ids: readonly string[]) => {
  const known = new Set(lasting);
  return ids.filter((id) => known.has(id));
};

/** Makes keys and, if told so, deletes each again, as fast as it goes; until stopped. */
function storm(how: 'create' | 'create and delete'): () => Promise<number> {
  let stopped = false;
  let changes = 0;
  const one = async () => {
    while (!stopped) {
      const body = { name: 'Passing', scopes: ['configs.list'] };
      const made = await h.as(workspace.key).post('/api-keys/workspace/service', body).expect(200);
      changes += 1;
      if (how === 'create') continue;
      await h.as(workspace.key).delete(`/api-keys/${made.body.id}`).expect(200);
      changes += 1;
    }
  };
  const running = Promise.all([one(), one()]);
  return async () => {
    stopped = true;
    await running;
    return changes;
  };
}

describe('a list of keys', () => {
  it.each([7, 80, 239, 240, 1000])(
    'has each key once in pages of %i, in one order',
    async (size) => {
      const ids = await walk(size);
      expect(new Set(ids).size).toBe(ids.length);
      expect(lastingAmong(ids)).toEqual(lasting);
      expect((await page(0, size)).total).toBe(ids.length);
    },
  );

  it('is, while keys come and go, in each answer the list of one moment', async () => {
    const stop = storm('create and delete');
    for (let round = 0; round < 15; round += 1) {
      const { ids } = await page(0, 1000);
      expect(new Set(ids).size).toBe(ids.length);
      expect(lastingAmong(ids)).toEqual(lasting);
    }
    expect(await stop()).toBeGreaterThan(2);
  });

  it('loses, while keys come, no key from one page to the next, and changes no order', async () => {
    const stop = storm('create');
    const walks = [await walk(20), await walk(33)];
    expect(await stop()).toBeGreaterThan(2);
    for (const ids of walks) expect([...new Set(lastingAmong(ids))]).toEqual(lasting);
  });
});
