import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastEntries } from '../support/audit-trail.ts';
import { listen } from '../support/gateway-view.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);

async function guardrail(workspaceId: string | null = null) {
  const id = randomUUID();
  const slug = `pg-${id.slice(0, 8)}`;
  const organisationId = h.first.organisation_id;
  await h.db.guardrail.create({
    data: { id, organisationId, workspaceId, slug, name: 'One', ownerId: randomUUID() },
  });
  return { id, slug };
}

describe('defaults of the organisation', () => {
  const path = '/admin/organisation/defaults';

  it('name guardrails of its own by id or slug, and every workspace hears of them', async () => {
    const [one, two] = [await guardrail(), await guardrail()];
    const second = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
    const there = await h.db.workspace.findFirstOrThrow({ where: { slug: second.body.slug } });
    const gateway = await listen(h);
    await admin()
      .put(path, { input_guardrails: [two.id, one.slug, two.slug], output_guardrails: [one.id] })
      .expect(200);
    await Promise.all([gateway.hears(h.first.workspace_id), gateway.hears(there.id)]);
    gateway.stop();
    expect((await admin().get(path)).body).toEqual({
      input_guardrails: [two, one],
      output_guardrails: [one],
    });
    await admin().put(path, { input_guardrails: null }).expect(200);
    expect((await admin().get(path)).body).toEqual({
      input_guardrails: [],
      output_guardrails: [one],
    });
    expect((await lastEntries(h, 1))[0]).toMatchObject({
      before: { input_guardrails: [two, one] },
      after: { input_guardrails: [] },
    });
  });

  it('refuse what is no guardrail of the organisation', async () => {
    const inWorkspace = await guardrail(h.first.workspace_id);
    for (const reference of ['pg-none', randomUUID(), inWorkspace.id, inWorkspace.slug]) {
      const answer = await admin().put(path, { output_guardrails: [reference] });
      expect([answer.status, answer.body.data.field]).toEqual([400, 'body.output_guardrails[0]']);
    }
    const { slug } = await guardrail();
    const foreign = await h.as(h.other.admin_key).put(path, { input_guardrails: [slug] });
    expect(foreign.status).toBe(400);
  });
});

describe.each(['input', 'output'])('exclusions from %s guardrails', (side) => {
  const path = `/workspace-exclusions/${side}-guardrails`;

  it('are added and taken back one by one, or replaced as a whole', async () => {
    const made = await admin()
      .post('/admin/workspaces', { name: `Area ${side}` })
      .expect(200);
    const area = await h.db.workspace.findFirstOrThrow({ where: { slug: made.body.slug } });
    const excluded = async () =>
      (await admin().get(path)).body.workspaces.map(
        (workspace: { workspace_id: string }) => workspace.workspace_id,
      );
    const put = (workspaces: object[], more: object = {}) =>
      admin()
        .put(path, { workspaces, ...more })
        .expect(200);
    const gateway = await listen(h);
    await put([{ workspace_id: area.slug, excluded: true }]);
    await gateway.hears(area.id);
    expect(gateway.heard).not.toContain(h.first.workspace_id);
    gateway.stop();
    await put([{ workspace_id: h.first.workspace_id, excluded: true }]);
    expect((await excluded()).sort()).toEqual([area.id, h.first.workspace_id].sort());
    await put([{ workspace_id: area.id, excluded: false }]);
    expect(await excluded()).toEqual([h.first.workspace_id]);
    const shown = (await admin().get(path)).body;
    await put([{ workspace_id: area.id, excluded: true }], { override_existing: true });
    expect(await excluded()).toEqual([area.id]);
    await put(shown.workspaces, {
      organisation_id: shown.organisation_id,
      override_existing: true,
    });
    expect(await excluded()).toEqual([h.first.workspace_id]);
    await put([], { override_existing: true });
  });

  it('are for the organisation’s own workspaces and its own keys', async () => {
    const theirs = [{ workspace_id: h.other.workspace_id, excluded: true }];
    const answer = await admin().put(path, { workspaces: theirs });
    expect([answer.status, answer.body.data.field]).toEqual([
      400,
      'body.workspaces[0].workspace_id',
    ]);
    await admin()
      .put(path, { organisation_id: h.other.organisation_id, workspaces: [] })
      .expect(403);
    await admin().get(`${path}?organisation_id=${h.other.organisation_id}`).expect(403);
    await h.as(h.first.workspace_key).get(path).expect(403);
  });
});
