import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCredentialVault } from '../../src/kernel/credentials/envelope.ts';
import { bytes } from '../../src/kernel/database/change.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { holdsInClear } from '../support/holds-in-clear.ts';

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

describe('idempotency-key', () => {
  const newKey = (idempotencyKey: string, over: object = {}, key = h.first.admin_key) =>
    h
      .as(key)
      .post('/api-keys/workspace/service', {
        name: 'Once',
        scopes: ['completions.write'],
        workspace_id: h.first.workspace_slug,
        ...over,
      })
      .set('idempotency-key', idempotencyKey);
  const keysMade = () => h.db.apiKey.count({ where: { name: 'Once' } });
  const codeOf = (answer: { body: { data?: { code?: string } } }) => answer.body.data?.code;
  const rowOf = (key: string) => {
    const at = [h.first.organisation_id, adminKeyId, key];
    return createHash('sha256').update(JSON.stringify(at)).digest('hex');
  };
  let adminKeyId = '';
  beforeAll(async () => {
    const keys = await h.db.apiKey.findMany({ where: { workspaceId: null }, take: 9 });
    adminKeyId = keys.find((each) => each.organisationId === h.first.organisation_id)?.id ?? '';
  });

  it('answers the first answer again, the secret of a key too, which lies sealed', async () => {
    const first = await newKey('once-1').expect(200);
    const again = await newKey('once-1').expect(200);
    expect(again.body).toEqual(first.body);
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([
      undefined,
      'true',
    ]);
    expect(await keysMade()).toBe(1);
    expect(await holdsInClear(h, ['idempotency_keys'], first.body.key)).toBe(false);
    // Members in another order are the same request.
    const shuffled = await h
      .as(h.first.admin_key)
      .post('/api-keys/workspace/service', {
        workspace_id: h.first.workspace_slug,
        scopes: ['completions.write'],
        name: 'Once',
      })
      .set('idempotency-key', 'once-1');
    expect(shuffled.body).toEqual(first.body);
  });

  it('is carried out once however many send it at once, to whichever replica', async () => {
    const before = await keysMade();
    const other = await h.replica();
    const send = (port: number) =>
      fetch(`http://127.0.0.1:${port}/v1/api-keys/workspace/service`, {
        method: 'POST',
        headers: {
          'x-service-api-key': h.first.admin_key,
          'content-type': 'application/json',
          'idempotency-key': 'at-once',
        },
        body: JSON.stringify({
          name: 'Once',
          scopes: ['completions.write'],
          workspace_id: h.first.workspace_slug,
        }),
      });
    const ports = [h.service.httpPort, other.httpPort];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => send(ports[at % 2] ?? 0)),
    );
    expect(await keysMade()).toBe(before + 1);
    for (const answer of answers) expect([200, 409]).toContain(answer.status);
    const late = await Promise.all(ports.map(send));
    const bodies = await Promise.all(late.map((each) => each.json()));
    expect(late.map(({ status }) => status)).toEqual([200, 200]);
    expect(bodies[0]).toEqual(bodies[1]);
  });

  it('is refused with another request, and is one caller’s own', async () => {
    await newKey('mine', { name: 'Mine' }).expect(200);
    const other = await newKey('mine', { name: 'Mine too' });
    expect([other.status, codeOf(other)]).toEqual([422, 'admin.idempotency_key_reused']);
    const theirs = { name: 'Mine', workspace_id: h.other.workspace_slug };
    const answer = await newKey('mine', theirs, h.other.admin_key);
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([200, undefined]);
  });

  it('keeps no key of what was refused: once it is mended, it is carried out', async () => {
    const missing = { workspace_id: 'ws-not-yet', name: 'Early' };
    await newKey('early', missing).expect(404);
    await h
      .as(h.first.admin_key)
      .post('/admin/workspaces', { name: 'Now', slug: 'ws-not-yet' })
      .expect(200);
    await newKey('early', missing).expect(200);
  });

  it('says so when the first one is under way, and takes over when its process is gone', async () => {
    await newKey('gone', { name: 'Gone' }).expect(200);
    const id = rowOf('gone');
    const running = { state: 'running', sealedAnswer: await unanswered(id) };
    await h.db.idempotencyKey.update({ where: { id }, data: running });
    const meanwhile = await newKey('gone', { name: 'Gone' });
    expect([meanwhile.status, codeOf(meanwhile), meanwhile.headers['retry-after']]).toEqual([
      409,
      'admin.idempotency_in_flight',
      '1',
    ]);
    const startedAt = new Date(Date.now() - 121_000);
    await h.db.idempotencyKey.update({ where: { id }, data: { startedAt } });
    const taken = await newKey('gone', { name: 'Gone' });
    expect([taken.status, taken.headers['idempotent-replayed']]).toEqual([200, undefined]);
  });

  it('makes nothing twice when the process died between its change and its answer', async () => {
    const made = await newKey('lost', { name: 'Lost' }).expect(200);
    const id = rowOf('lost');
    const startedAt = new Date(Date.now() - 121_000);
    const changed = { state: 'changed', sealedAnswer: await unanswered(id), startedAt };
    await h.db.idempotencyKey.update({ where: { id }, data: changed });
    const again = await newKey('lost', { name: 'Lost' });
    expect([again.status, codeOf(again)]).toEqual([409, 'admin.idempotency_answer_lost']);
    expect(again.body.data.message).toContain(made.body.id);
    expect(await h.db.apiKey.count({ where: { name: 'Lost' } })).toBe(1);
  });

  it('holds for a day', async () => {
    const first = await newKey('daily', { name: 'Daily' }).expect(200);
    h.clock.offsetMs = 86_400_000 - 60_000;
    expect((await newKey('daily', { name: 'Daily' })).body).toEqual(first.body);
    h.clock.offsetMs = 86_400_001;
    const next = await newKey('daily', { name: 'Daily' }).expect(200);
    h.clock.offsetMs = 0;
    expect(next.body.id).not.toBe(first.body.id);
  });

  it('is answered again where the organisation may have no more of them', async () => {
    const first = await newKey('last', { name: 'Last' }).expect(200);
    const organisationId = h.first.organisation_id;
    await h.db.$executeRaw`INSERT INTO idempotency_keys
      (id, organisation_id, attempt_id, state, sealed_answer, started_at, expires_at)
      SELECT 'crowd' || n, ${organisationId}::uuid, ${randomUUID()}::uuid, 'done', '', now(), now() + interval '1 day'
      FROM generate_series(1, 20000) AS n`;
    const [again, more] = [
      await newKey('last', { name: 'Last' }),
      await newKey('one-more', { name: 'Last' }),
    ];
    await h.db.idempotencyKey.deleteMany({ where: { id: { startsWith: 'crowd' } } });
    expect(again.body).toEqual(first.body);
    expect([more.status, codeOf(more)]).toEqual([429, 'admin.idempotency_keys_max']);
  });

  it.each(['', 'a b', 'ä', 'x'.repeat(256)])('is refused as %j', async (text) => {
    const answer = await newKey(Buffer.from(text).toString('latin1'), { name: randomUUID() });
    expect([answer.status, answer.body.data?.field]).toEqual([400, 'idempotency-key']);
  });

  /** What the row holds before there is an answer. */
  async function unanswered(id: string): Promise<Uint8Array<ArrayBuffer>> {
    const vault = createCredentialVault(h.env.MASTER_KEY);
    const row = await h.db.idempotencyKey.findUniqueOrThrow({ where: { id } });
    const address = { table: 'idempotency_keys', id };
    const { request } = JSON.parse(vault.open(Buffer.from(row.sealedAnswer), address));
    return bytes(vault.seal(JSON.stringify({ request, answer: null }), address));
  }
});
