import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/names/ids.ts';
import { removeAgedFeedback } from '../../src/ledger/feedback/remove-aged.ts';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const path = '/feedback';

const rowsOf = (ids: string[]) => h.db.feedback.findMany({ where: { id: { in: ids } } });

async function give(body: object): Promise<string[]> {
  const answer = await workspace().post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.feedback_ids;
}

it('goes with what the ledger has of it, and not before that has it', async () => {
  const days = (age: number) => new Date(Date.now() - age * 86_400_000);
  const made = async (organisation: typeof h.first, age: number, isSent = true) => {
    const at = days(age);
    const { id } = await h.db.feedback.create({
      data: {
        id: newId(at.getTime()),
        organisationId: organisation.organisation_id,
        workspaceId: organisation.workspace_id,
        traceId: `aged-${age}`,
        value: 1,
        createdAt: at,
        updatedAt: at,
        isSent,
      },
    });
    return id;
  };
  const settings = (id: string, retention: object) =>
    h.db.organisation.update({ where: { id }, data: { settings: { retention } } });
  // One keeps figures for 40 days; the other for 35, but logs for 60, and no figures for less than their logs.
  await settings(h.first.organisation_id, { logs_days: 1, figures_days: 40 });
  await settings(h.other.organisation_id, { logs_days: 60, figures_days: 35 });
  const stays = [
    await made(h.first, 39),
    await made(h.first, 400, false),
    await made(h.other, 59),
    await made(h.other, 41),
  ];
  const goes = [
    await made(h.first, 42),
    await made(h.first, 400),
    await made(h.other, 62),
    ...(await Promise.all(Array.from({ length: 30 }, (_, at) => made(h.other, 100 + at)))),
  ];
  await removeAgedFeedback(h.db, new Date(), new AbortController().signal, 10);
  const left = (await rowsOf([...stays, ...goes])).map(({ id }) => id);
  expect(left.toSorted()).toEqual(stays.toSorted());
  await settings(h.first.organisation_id, {});
  await settings(h.other.organisation_id, {});
});

describe('feedback', () => {
  it('is kept with what it judges, who gave it and a weight of 1', async () => {
    const answer = await workspace()
      .post(path, { trace_id: 'trace-1', value: 10, metadata: { _user: 'ada' } })
      .expect(200);
    expect(answer.body).toEqual({
      status: 'success',
      message: 'Feedback successfully saved',
      feedback_ids: [expect.any(String)],
    });
    expect(await rowsOf(answer.body.feedback_ids)).toEqual([
      expect.objectContaining({
        organisationId: h.first.organisation_id,
        workspaceId: h.first.workspace_id,
        traceId: 'trace-1',
        value: 10,
        weight: 1,
        metadata: { _user: 'ada' },
        apiKeyId: expect.any(String),
      }),
    ]);
  });

  it('may come as a list, whose ids are told in its order; several of one trace are kept', async () => {
    const ids = await give(
      [1, -2, 3, -4].map((value) => ({ trace_id: 'trace-2', value, weight: 0.25 })),
    );
    const kept = new Map((await rowsOf(ids)).map(({ id, value }) => [id, value]));
    expect(ids.map((id) => kept.get(id))).toEqual([1, -2, 3, -4]);
  });

  it('takes metadata as JSON text, too', async () => {
    const [row] = await rowsOf(
      await give({ trace_id: 't', value: 0, metadata: '{"_prompt":"greeting","n":1}' }),
    );
    expect(row?.metadata).toEqual({ _prompt: 'greeting', n: 1 });
  });

  it.each([
    ['no trace', { value: 1 }],
    ['no value', { trace_id: 't' }],
    ['half a value', { trace_id: 't', value: 0.5 }],
    ['a value beyond ten', { trace_id: 't', value: 11 }],
    ['a weight beyond one', { trace_id: 't', value: 1, weight: 1.1 }],
    ['metadata that is a text', { trace_id: 't', value: 1, metadata: 'good' }],
    ['metadata that is a list', { trace_id: 't', value: 1, metadata: '[]' }],
    ['NUL in metadata as text', { trace_id: 't', value: 1, metadata: '{"a":"\\u0000"}' }],
    ['half a character', { trace_id: 't', value: 1, metadata: '{"a":{"\\ud800":1}}' }],
    ['metadata without end', { trace_id: 't', value: 1, metadata: { a: 'x'.repeat(20_000) } }],
    ['one bad of two', [{ trace_id: 't', value: 1 }, { trace_id: 't' }]],
    ['nothing at all', []],
  ])('is refused with %s, and nothing of it is kept', async (_case, body) => {
    const before = await h.db.feedback.count();
    await workspace().post(path, body).expect(400);
    expect(await h.db.feedback.count()).toBe(before);
  });

  it('is refused with the place of the fault, in a list too', async () => {
    const good = { trace_id: 't', value: 1 };
    for (const [body, field] of [
      [{ ...good, value: 11 }, 'body.value'],
      [[good, { ...good, value: 11 }], 'body[1].value'],
      [[good, 5], 'body[1]'],
      [[good, { ...good, metadata: '{"a":"\\ud800"}' }], 'body[1].metadata.a'],
    ] as const)
      expect(
        (
          await workspace()
            .post(path, body as object)
            .expect(400)
        ).body.data.field,
        JSON.stringify(body),
      ).toBe(field);
  });

  it('is changed in what is sent, the rest stays', async () => {
    const [id = ''] = await give({ trace_id: 't', value: 5, weight: 0.5, metadata: { a: 'b' } });
    const answer = await workspace().put(`${path}/${id}`, { value: -5 }).expect(200);
    expect(answer.body).toEqual({
      status: 'success',
      message: 'Feedback successfully updated',
      feedback_ids: [id],
    });
    expect(await rowsOf([id])).toMatchObject([{ value: -5, weight: 0.5, metadata: { a: 'b' } }]);
    await workspace().put(`${path}/${id}`, { value: 1, weight: 0, metadata: {} }).expect(200);
    expect(await rowsOf([id])).toMatchObject([{ value: 1, weight: 0, metadata: {} }]);
    await workspace().put(`${path}/${id}`, { weight: 1 }).expect(400);
    await workspace().put(`${path}/not-a-uuid`, { value: 1 }).expect(400);
  });

  it('cannot be changed from another workspace or organisation', async () => {
    const [id = ''] = await give({ trace_id: 't', value: 5 });
    const second = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Second' });
    const row = await h.db.workspace.findFirstOrThrow({ where: { slug: second.body.slug } });
    for (const key of [await createServiceKey(h, row.id), h.other.workspace_key])
      await h.as(key).put(`${path}/${id}`, { value: 0 }).expect(404);
    expect(await rowsOf([id])).toMatchObject([{ value: 5 }]);
  });

  it('is given by workspace keys with the scope, of services and of people', async () => {
    const body = { trace_id: 't', value: 1 };
    const { key, userId } = await createPerson(h, 'manager', h.first.workspace_id);
    const given = await h.as(key).post(path, body).expect(200);
    expect(await rowsOf(given.body.feedback_ids)).toMatchObject([{ userId }]);
    const refused = await h.as(h.first.admin_key).post(path, body).expect(403);
    expect(refused.body.data.errorCode).toBe('AB03');
    const unable = await createServiceKey(h, h.first.workspace_id, ['completions.write']);
    await h.as(unable).post(path, body).expect(403);
  });

  it('is no administrative action: the audit log does not grow', async () => {
    const before = await h.db.auditEntry.count();
    const [id = ''] = await give({ trace_id: 't', value: 1 });
    await workspace().put(`${path}/${id}`, { value: 2 }).expect(200);
    await workspace().post(path, {}).expect(400);
    expect(await h.db.auditEntry.count()).toBe(before);
  });
});
