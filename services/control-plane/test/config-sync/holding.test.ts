import { createHash } from 'node:crypto';
import { hashServiceKey } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { waitMs } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFixture, createPerson, type Fixture } from '../support/fixture.ts';
import { TestFollower } from '../support/follower.ts';
import { type Harness, startHarness, token } from '../support/harness.ts';
import { HeldSections } from '../support/held-sections.ts';

let h: Harness;
let fixture: Fixture;
const followers: TestFollower[] = [];
beforeAll(async () => {
  h = await startHarness();
  fixture = await createFixture(h);
});
afterEach(() => {
  for (const each of followers.splice(0)) each.close();
});
afterAll(() => h.stop());

async function follower(rpc = h.rpc, saysHolding = true): Promise<TestFollower> {
  const opened = await TestFollower.open(rpc, saysHolding);
  followers.push(opened);
  return opened;
}

/** Changes the bundle of the workspace of this key. */
const changeBundle = (key = h.first.workspace_key) =>
  h
    .as(key)
    .post('/configs?allow_missing=true', { name: 'x', config: { provider: '@demo' } })
    .expect(200);

async function createKey(key = h.first.workspace_key): Promise<{ id: string; key: string }> {
  const made = await h
    .as(key)
    .post('/api-keys/workspace/service', { name: 'x', scopes: ['completions.write'] })
    .expect(200);
  return made.body;
}

const renameKey = (id: string, key = h.first.workspace_key) =>
  h.as(key).put(`/api-keys/${id}`, { name: 'y' }).expect(200);

/** What a gateway that has just asked would say of the workspace. */
async function stateOf(workspaceId: string) {
  const held = new HeldSections(h, workspaceId);
  await held.refresh();
  return { id: workspaceId, revision: held.end?.revision ?? 0n, stamp: held.end?.stamp ?? '' };
}

const keysTold = ({ events }: TestFollower) =>
  events.flatMap((event) => (event.case === 'keyChanged' ? [event.value.keyId] : []));
const workspacesTold = ({ events }: TestFollower) =>
  events.flatMap((event) => (event.case === 'workspaceChanged' ? [event.value.workspaceId] : []));

describe('who says what is held', () => {
  it('hears of that and of nothing else: what others hold costs no byte', async () => {
    const [one, other] = [await follower(), await follower()];
    await one.holds([{ id: h.first.workspace_id }]);
    await other.holds([{ id: fixture.workspaceB.id }]);
    for (const each of [one, other]) each.forget();
    const { id } = await createKey();
    await changeBundle();
    await renameKey(id);
    await one.told('keyChanged');
    expect(one.kinds).toEqual(['workspaceChanged', 'barrier', 'keyChanged', 'barrier']);
    expect(one.bytes).toBeLessThan(400);
    await changeBundle(fixture.workspaceB.key);
    await other.told('workspaceChanged');
    expect(workspacesTold(other)).toEqual([fixture.workspaceB.id]);
    expect(other.kinds).toEqual(['workspaceChanged', 'barrier']);
    expect(one.kinds).toHaveLength(4);
  });

  it('holds up no change of what others hold', async () => {
    const slow = h.rpc.duplexStream(config.ConfigService.method.follow);
    const { promise: compared, resolve } = Promise.withResolvers<void>();
    slow.on('error', () => {});
    slow.on('data', ({ event }: config.FollowResponse) => {
      if (event.case === 'ready')
        slow.say({
          say: { case: 'holding', value: { number: 1n, held: [{ id: fixture.workspaceB.id }] } },
        });
      if (event.case === 'compared') resolve();
    });
    slow.say({ say: { case: 'hello', value: { replicaId: 'slow' } } });
    await compared;
    try {
      expect((await changeBundle()).headers['x-service-in-force']).toBe('everywhere');
      const held = await changeBundle(fixture.workspaceB.key);
      expect(held.headers['x-service-in-force']).toBe('pending');
    } finally {
      slow.cancel();
    }
  });

  it('hears of keys of an organisation, and of its own changes, when it holds the organisation', async () => {
    const [inside, outside] = [await follower(), await follower()];
    await inside.holds([{ id: h.first.organisation_id }]);
    await outside.holds([{ id: h.first.workspace_id }]);
    for (const each of [inside, outside]) each.forget();
    const made = await h
      .as(h.first.admin_key)
      .post('/api-keys/organisation/service', { name: 'x', scopes: ['workspaces.list'] })
      .expect(200);
    await renameKey(made.body.id, h.first.admin_key);
    await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'New' }).expect(200);
    await inside.told('organisationChanged');
    expect(keysTold(inside)).toEqual([made.body.id]);
    expect(outside.kinds).toEqual([]);
  });

  it('that says nothing, as one of the release before, hears of everything', async () => {
    const before = await follower(h.rpc, false);
    const silent = await follower();
    for (const each of [before, silent]) each.forget();
    await changeBundle();
    await changeBundle(fixture.workspaceB.key);
    await expect
      .poll(() => workspacesTold(before))
      .toEqual([h.first.workspace_id, fixture.workspaceB.id]);
    // One that will say what it holds need not hear before that: it compares.
    expect(silent.kinds).toEqual([]);
  });
});

describe('after a gap', () => {
  it('is told of the workspaces that changed, in whichever way, and of no others', async () => {
    const gone = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Gone' });
    const { id: goneId } = await h.db.workspace.findFirstOrThrow({
      where: { slug: gone.body.slug },
    });
    const states = await Promise.all(
      [h.first.workspace_id, fixture.workspaceB.id, h.other.workspace_id, goneId].map(stateOf),
    );
    await changeBundle(fixture.workspaceB.key);
    await h.as(h.first.admin_key).delete(`/admin/workspaces/${gone.body.slug}`).expect(200);
    // As a database that was restored: the same number, another state.
    await h.db.$executeRaw`UPDATE bundle_revisions SET stamp = gen_random_uuid()
      WHERE workspace_id = ${h.other.workspace_id}::uuid`;
    const replica = await h.replica();
    const rpc = createRpcClient(config.ConfigService, {
      address: `127.0.0.1:${replica.grpcPort}`,
      token,
    });
    try {
      const back = await follower(rpc);
      await back.holds(states);
      expect(workspacesTold(back).sort()).toEqual(
        [fixture.workspaceB.id, h.other.workspace_id, goneId].sort(),
      );
      // What is read once for all is read again when it has changed.
      const again = await follower(rpc);
      await changeBundle();
      await again.holds(states);
      expect(workspacesTold(again)).toContain(h.first.workspace_id);
    } finally {
      rpc.close();
    }
  });

  it('is told of the keys that changed, however that came about, and of no others', async () => {
    const [renamed, deleted, untouched, elsewhere] = [
      await createKey(),
      await createKey(),
      await createKey(),
      await createKey(fixture.workspaceB.key),
    ];
    const person = await createPerson(h, 'manager', h.first.workspace_id);
    const demoted = await h.db.apiKey.findFirstOrThrow({ where: { userId: person.userId } });
    const away = await follower();
    const { keys } = await away.holds([{ id: h.first.workspace_id }], '');
    expect(keys).toMatchObject({ unknown: true });
    await passAMinute();
    await renameKey(renamed.id);
    await h.as(h.first.workspace_key).delete(`/api-keys/${deleted.id}`).expect(200);
    await renameKey(elsewhere.id, fixture.workspaceB.key);
    // As a replica of the release before would, which notes nothing itself.
    await h.db.workspaceMember.updateMany({
      where: { userId: person.userId },
      data: { role: 'member' },
    });
    const back = await follower();
    const told = await back.holds([{ id: h.first.workspace_id }], keys?.mark);
    expect(told.keys?.unknown).toBe(false);
    expect(keysTold(back).sort()).toEqual([renamed.id, deleted.id, demoted.id].sort());
    expect(keysTold(back)).not.toContain(untouched.id);
    expect(told.keys?.mark).not.toBe(keys?.mark);
  });

  it('of which changes of keys are not remembered, is told so', async () => {
    const back = await follower();
    const { keys } = await back.holds([], '2c0c3a6e-8b6f-4f7c-9d55-000000000000');
    expect(keys?.unknown).toBe(true);
    expect((await back.holds([], keys?.mark)).keys).toEqual(keys && { ...keys, unknown: false });
    await h.db.$executeRaw`INSERT INTO key_changes
      SELECT gen_random_uuid(), ${h.first.workspace_id}::uuid, clock_timestamp() FROM generate_series(1, 5001)`;
    // What was read is read again once a change of a key was told.
    await renameKey((await createKey()).id);
    await expect.poll(async () => (await back.holds([], keys?.mark)).keys?.unknown).toBe(true);
  });

  it('changes of keys are forgotten after a week, with the marks that need them', async () => {
    const back = await follower();
    const { keys } = await back.holds([], '');
    await h.db.keyChange.deleteMany();
    await renameKey((await createKey()).id);
    await h.db.$executeRaw`UPDATE key_changes SET changed_at = changed_at - interval '8 days'`;
    await h.db.$executeRaw`UPDATE key_marks SET since = since - interval '8 days'`;
    await renameKey((await createKey()).id);
    await renameKey((await createKey()).id);
    expect(await h.db.keyChange.count()).toBe(2);
    await expect.poll(async () => (await back.holds([], keys?.mark)).keys?.unknown).toBe(true);
  });
});

it('marks of keys are told with the change, and to others with the next heartbeat', async () => {
  const [one, other] = [await follower(), await follower()];
  await one.holds([{ id: h.first.workspace_id }], '');
  await other.holds([{ id: fixture.workspaceB.id }], '');
  const { id } = await createKey();
  await renameKey(id);
  await one.told('keyChanged');
  const [mark] = one.events.flatMap((event) =>
    event.case === 'keyChanged' ? [event.value.mark] : [],
  );
  expect(mark).toMatch(/^[0-9a-f-]{36}$/);
  const beats = () =>
    other.events.flatMap((event) => (event.case === 'heartbeat' ? [event.value.mark] : []));
  await expect.poll(beats).toContain(mark);
});

describe('ResolveKeys', () => {
  it('gives those that there are, as ResolveKey does', async () => {
    const { resolveKey, resolveKeys } = config.ConfigService.method;
    const hashes = [h.first.workspace_key, h.first.admin_key].map((key) =>
      hashServiceKey(key, h.env.KEY_PEPPER),
    );
    const nobodys = createHash('sha256').update('nobody').digest();
    const { found } = await h.rpc.unary(
      resolveKeys,
      { keyHashes: [...hashes, nobodys] },
      { timeoutMs: waitMs },
    );
    expect(found).toHaveLength(2);
    for (const { keyHash, key } of found)
      expect((await h.rpc.unary(resolveKey, { keyHash }, { timeoutMs: waitMs })).key).toEqual(key);
  });
});

/** Marks count what changed a minute before them as not known. */
async function passAMinute(): Promise<void> {
  await h.db.$executeRaw`UPDATE key_changes SET changed_at = changed_at - interval '5 minutes'`;
  await h.db.$executeRaw`UPDATE key_marks SET since = since - interval '2 minutes'`;
}
