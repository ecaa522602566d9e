import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

/** A script that makes things by names of its own finds out that it ran before. */
let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const key = { scopes: ['logs.list'] };
const kinds: [string, string, object][] = [
  ['a workspace', '/admin/workspaces', {}],
  ['a key', '/api-keys/organisation/service', key],
  ['a config', '/configs', { config: { retry: { attempts: 1 } } }],
  ['a collection', '/collections', {}],
  [
    'a guardrail',
    '/guardrails',
    { checks: [{ id: 'default.wordCount', parameters: { minWords: 1 } }], actions: {} },
  ],
  [
    'a prompt',
    '/prompts',
    { collection_id: 'default', string: 'Hi', parameters: {}, virtual_key: 'demo', model: 'm' },
  ],
  ['a partial', '/prompts/partials', { string: 'Hi' }],
];

const make = (path: string, body: object) => {
  const level = path.startsWith('/admin') || path.includes('organisation') ? 'admin' : 'workspace';
  return h.as(level === 'admin' ? h.first.admin_key : h.first.workspace_key).post(path, body);
};

it.each(kinds)('%s has the slug that was chosen, once', async (_what, path, body) => {
  const slug = 'Chosen_by-us-1';
  const made = await make(path, { name: 'One', slug, ...body });
  expect(made.status, made.text).toBe(200);
  const [first, second] = await Promise.all([
    make(path, { name: 'Two', slug: 'twice', ...body }),
    make(path, { name: 'Two', slug: 'twice', ...body }),
  ]);
  expect([first.status, second.status].sort()).toEqual([200, 409]);
  const again = await make(path, { name: 'One', slug, ...body }).expect(409);
  expect(again.body.data).toMatchObject({ errorCode: 'AB07', field: 'body.slug' });
  for (const wrong of ['', 'a b', 'a/b', 'ä', 'x'.repeat(256), h.first.workspace_id, null, 5]) {
    const refused = await make(path, { name: 'One', slug: wrong, ...body });
    expect([wrong, refused.status, refused.body.data?.field]).toEqual([wrong, 400, 'body.slug']);
  }
});

it('a workspace hides no path of the gateway', async () => {
  for (const slug of ['v1', 'docs', 'OAuth', 'metrics'])
    await make('/admin/workspaces', { name: 'x', slug }).expect(400);
});

it('slugs are chosen in each organisation and each workspace by itself', async () => {
  await h.as(h.other.admin_key).post('/admin/workspaces', { name: 'x', slug: 'twice' }).expect(200);
  const body = { name: 'x', slug: 'twice', config: { retry: { attempts: 1 } } };
  const at = `/configs?workspace_id=${h.first.workspace_slug}`;
  await h.as(h.first.admin_key).post(at, body).expect(409);
  await h
    .as(h.first.admin_key)
    .post('/configs', { ...body, workspace_id: 'twice' })
    .expect(200);
});
