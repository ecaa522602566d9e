import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { FolderStore, StoreError } from '@sluice/object-store';
import type { analytics } from '@sluice/proto-stubs';
import { eventually } from '@sluice/testkit';
import { uuidText } from '@sluice/usage';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ExportJobs } from '../../src/ledger/log-exports/export-jobs.ts';
import { createPerson } from '../support/fixture.ts';
import { type ControlPlane, type Harness, startHarness } from '../support/harness.ts';

const rows = 25_000;
const startMs = Date.now() - 86_400_000;
/** What the ledger was asked, and what it does before it answers. */
let asked: analytics.ListLogsRequest[] = [];
/** ms that it had for each answer. */
let hadMs: number[] = [];
let beforeAnswer: () => Promise<void> = async () => {};

let h: Harness;
let store: FolderStore;
let workers: ControlPlane[] = [];
beforeAll(async () => {
  h = await startHarness({
    analytics: {},
    logs: {
      async listLogs(request, { deadlineMs }) {
        asked.push(request);
        hadMs.push((deadlineMs ?? 0) - Date.now());
        await beforeAnswer();
        const from = Number(request.cursor || 0);
        const to = Math.min(rows, from + Math.min(request.pageSize, 1000));
        return {
          entries: Array.from({ length: to - from }, (_, at) => ({
            record: recordOf(from + at),
            attempts: 1,
            cursor: String(from + at + 1),
          })),
          nextCursor: to < rows ? String(to) : '',
        };
      },
    },
  });
  store = new FolderStore(h.env.LOG_STORE_DIR ?? '');
});
afterAll(() => h.stop());
beforeEach(() => {
  asked = [];
  hadMs = [];
  beforeAnswer = async () => {};
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  workers = [];
  h.clock.offsetMs = 0;
  // What a test that failed left behind is nothing to the next.
  await h.db.logExport.deleteMany();
  await settings({});
});

const settings = (some: object) =>
  h.db.organisation.update({ where: { id: h.first.organisation_id }, data: { settings: some } });

const path = '/logs/exports';
const workspace = () => h.as(h.first.workspace_key);

function idOf(number: number): Buffer {
  const id = Buffer.alloc(16, 7);
  id.writeUIntBE(startMs + number, 0, 6);
  id.writeUInt32BE(number, 12);
  return id;
}

function recordOf(number: number) {
  return {
    id: idOf(number),
    requestId: idOf(number),
    organisationId: h.first.organisation_id,
    workspaceId: h.first.workspace_id,
    workspaceSlug: 'ws-main',
    createdAtMs: BigInt(startMs + number),
    traceId: `trace-${number}`,
    method: 'POST',
    requestUrl: '/v1/chat/completions',
    endpoint: 'chatComplete',
    provider: 'openai',
    model: 'gpt-4o',
    statusCode: 200,
    inputTokens: BigInt(number),
    outputTokens: 2n,
    costNanoUsd: 5_000_000n,
    costKnown: true,
    metadata: { _user: 'ada', line: 'one\ntwo' },
    logFormat: number === 0 ? 'v1' : '',
  };
}

async function work(settings: Parameters<Harness['replica']>[0] = {}): Promise<ControlPlane> {
  const worker = await h.replica({ LOG_EXPORT_INTERVAL: 20, LOG_EXPORT_LEASE: 6_000, ...settings });
  workers.push(worker);
  return worker;
}

async function start(body: object, caller = workspace()): Promise<string> {
  const made = await caller.post(path, { filters: {}, requested_data: ['id'], ...body });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  await caller.post(`${path}/${made.body.id}/start`).expect(200);
  return made.body.id;
}

const read = async (id: string) => (await workspace().get(`${path}/${id}`).expect(200)).body;
const ended = (id: string, status: string) =>
  eventually(async () => expect(await read(id)).toMatchObject({ status }));

async function linkOf(id: string): Promise<string> {
  return (await workspace().get(`${path}/${id}/download`).expect(200)).body.signed_url;
}

async function fileOf(id: string): Promise<Record<string, unknown>[]> {
  const answer = await fetch(await linkOf(id));
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const partsOf = async (id: string) =>
  (await store.list(`exports/${h.first.organisation_id}/${id}/`)).keys;

describe('an export', () => {
  it('has the fields that were asked for, in their order, of each row once', async () => {
    await work();
    const requested = [
      'created_at',
      'id',
      'metadata',
      'cost',
      'req_units',
      'is_success',
      'request',
    ];
    const id = await start({ filters: { page_size: 3 }, requested_data: requested });
    await ended(id, 'success');
    const file = await fileOf(id);
    expect(file).toHaveLength(3);
    expect(Object.keys(file[1]!)).toEqual(requested);
    expect(file[1]).toEqual({
      created_at: new Date(startMs + 1).toISOString(),
      id: uuidText(idOf(1)),
      metadata: { _user: 'ada', line: 'one\ntwo' },
      cost: 0.5,
      req_units: 1,
      is_success: true,
      request: { url: '/v1/chat/completions', method: 'POST', serviceHeaders: {} },
    });
    expect(await read(id)).toMatchObject({ status: 'success', total: 3 });
  });

  it('is one page of what the filters admit, of 50,000 rows at most, or all of it', async () => {
    await work();
    const page = await start({ filters: { page_size: 12_000, current_page: 1 } });
    const all = await start({ filters: { page_size: 10 }, all: true });
    await Promise.all([ended(page, 'success'), ended(all, 'success')]);
    expect((await fileOf(page)).map(({ id }) => id)).toEqual(
      Array.from({ length: 12_000 }, (_, at) => uuidText(idOf(12_000 + at))),
    );
    expect(new Set((await fileOf(all)).map(({ id }) => id)).size).toBe(rows);
    expect((await partsOf(all)).length).toBeGreaterThan(2);
  });

  it('asks for nothing later than its start, of its workspace, and of what its starter may see', async () => {
    await work();
    const manager = await createPerson(h, 'manager', h.first.workspace_id);
    await settings({ data_visibility: { managersViewAllData: false } });
    const id = await start(
      {
        filters: {
          page_size: 5,
          status_code: '200, 246',
          ai_model: 'a,b',
          metadata: { n: 1 },
          api_key_ids: 'key-1,0198AB00-0000-7000-8000-00000000000F',
          span_id: 's',
          error_code: 'upstream.timeout',
          cache_status: 'MISS, SEMANTIC HIT',
          is_success: false,
          search: ' shop ',
        },
      },
      h.as(manager.key),
    );
    await eventually(() => expect(asked).toHaveLength(1));
    const { startedAt } = await h.db.logExport.findUniqueOrThrow({ where: { id } });
    expect(asked[0]?.filter).toMatchObject({
      organisationId: h.first.organisation_id,
      workspaceIds: [h.first.workspace_id],
      toMs: BigInt(startedAt?.getTime() ?? 0),
      statusCodes: [200, 246],
      aiModels: ['a', 'b'],
      metadata: { n: '1' },
      userId: manager.userId,
      apiKeyIds: ['key-1', '0198ab00-0000-7000-8000-00000000000f'],
      spanIds: ['s'],
      errorCodes: ['upstream.timeout'],
      cacheStatuses: ['MISS', 'SEMANTIC HIT'],
      isSuccess: false,
      search: 'shop',
    });
  });

  it('shows what is kept of bodies to those who may look into logs, and to nobody else', async () => {
    await work();
    const logId = uuidText(idOf(0));
    const content = {
      _id: logId,
      organisation_id: h.first.organisation_id,
      workspace_id: h.first.workspace_id,
      request: { url: '/v1/x', headers: {}, body: { canary: 'in the body' } },
      response: {},
    };
    await store.put(
      `30/${h.first.organisation_id}/${logId}.json`,
      Buffer.from(JSON.stringify(content)),
    );
    const keyWith = async (scopes: string[]) =>
      (
        await workspace()
          .post('/api-keys/workspace/service', { name: scopes.join(), scopes })
          .expect(200)
      ).body.key as string;
    const body = { filters: { page_size: 1 }, requested_data: ['request'] };
    const seen = await start(body, h.as(await keyWith(['logs.export', 'logs.view'])));
    const unseen = await start(body, h.as(await keyWith(['logs.export'])));
    await Promise.all([ended(seen, 'success'), ended(unseen, 'success')]);
    expect(await fileOf(seen)).toMatchObject([{ request: { body: { canary: 'in the body' } } }]);
    expect(JSON.stringify(await fileOf(unseen))).not.toContain('canary');
  });

  it('fails with its reason when a field is denied after it was started, and leaves nothing', async () => {
    const id = await start({ requested_data: ['id', 'cost'] });
    await settings({ export_settings: { deniedFields: ['cost'] } });
    await work();
    await ended(id, 'failed');
    expect((await read(id)).error).toContain('"cost" must not be exported');
    expect(await partsOf(id)).toEqual([]);
  });

  it('is not given out while one of its fields is denied, by a new link or an old one', async () => {
    const id = await start({ filters: { page_size: 1 }, requested_data: ['id', 'cost'] });
    await work();
    await ended(id, 'success');
    const link = await linkOf(id);
    const given = async () => [
      (await workspace().get(`${path}/${id}/download`)).status,
      (await fetch(link)).status,
    ];
    expect(await given()).toEqual([200, 200]);
    await settings({ export_settings: { deniedFields: ['cost'] } });
    expect(await given()).toEqual([400, 400]);
    const { body } = await workspace().get(`${path}/${id}/download`);
    expect(body.data.message).toContain('"cost" must not be exported');
    expect(await (await fetch(link)).text()).toContain('must not be exported');
    await settings({ export_settings: null });
    expect(await given()).toEqual([200, 200]);
  });

  it('is run by one of two replicas, and passed on when that one leaves', async () => {
    const id = await start({ all: true });
    beforeAnswer = () => delay(30);
    const first = await work();
    await eventually(() => expect(asked.length).toBeGreaterThan(3));
    const second = await work();
    await first.close();
    await ended(id, 'success');
    expect(second.httpPort).toBeGreaterThan(0);
    // What was read was kept: at most the page under way was asked for again.
    expect(asked.length).toBeLessThanOrEqual(rows / 1000 + 1);
    expect(new Set((await fileOf(id)).map((row) => row.id)).size).toBe(rows);
    expect((await h.db.logExport.findUniqueOrThrow({ where: { id } })).run).toBe(3);
  });

  it('stops within seconds of its cancelling, and its parts are removed', async () => {
    const id = await start({ all: true });
    beforeAnswer = () => delay(400);
    await work();
    await eventually(async () => expect((await read(id)).total).toBeGreaterThan(0));
    await workspace().post(`${path}/${id}/cancel`).expect(200);
    // A page takes 400 ms.
    await eventually(async () => {
      const before = asked.length;
      await delay(1_000);
      expect(asked.length).toBe(before);
    });
    expect(asked.length).toBeLessThan(rows / 1000);
    expect((await partsOf(id)).length).toBeGreaterThan(0);
    await work();
    await eventually(async () => expect(await partsOf(id)).toEqual([]));
    expect((await read(id)).status).toBe('stopped');
  });

  // What a ledger cannot answer in its time is too large, which is how an export would end on a busy machine.
  it('gives the ledger a minute for each of its pages, as nobody looks on', async () => {
    await work();
    await ended(await start({ filters: { page_size: 3_000 } }), 'success');
    expect(hadMs).toHaveLength(3);
    // A page of logs that somebody looks at has ten seconds.
    expect(Math.min(...hadMs)).toBeGreaterThan(30_000);
  });

  it('is tried again while the ledger is away', async () => {
    let failures = 2;
    beforeAnswer = async () => {
      if (failures-- > 0) throw new Error('away');
    };
    await work();
    const id = await start({ filters: { page_size: 3 } });
    await ended(id, 'success');
    expect(await fileOf(id)).toHaveLength(3);
  });
});

describe('a link', () => {
  it('is for one export, until it expires', async () => {
    await work();
    const [id, other] = [
      await start({ filters: { page_size: 1 } }),
      await start({ filters: { page_size: 1 } }),
    ];
    await Promise.all([ended(id, 'success'), ended(other, 'success')]);
    const link = new URL(await linkOf(id));
    expect((await fetch(link)).status).toBe(200);
    const wrong = async (change: (url: URL) => void) => {
      const url = new URL(link);
      change(url);
      return (await fetch(url)).status;
    };
    expect(await wrong((url) => (url.pathname = url.pathname.replace(id, other)))).toBe(404);
    expect(await wrong((url) => url.searchParams.set('expires', '9999999999'))).toBe(404);
    expect(await wrong((url) => url.searchParams.delete('signature'))).toBe(404);
    h.clock.offsetMs = 3_601_000;
    const late = await fetch(link);
    expect(late.status).toBe(410);
    expect(await late.json()).toMatchObject({ data: { code: 'admin.link_expired' } });
  });

  it('leads nowhere once the file is not kept any more', async () => {
    await work();
    const id = await start({ filters: { page_size: 1 } });
    await ended(id, 'success');
    h.clock.offsetMs = 8 * 86_400_000;
    await work();
    // The files go first, so that one who dies between the two is found again.
    await eventually(async () => {
      expect(await partsOf(id)).toEqual([]);
      const gone = await workspace().get(`${path}/${id}/download`).expect(410);
      expect(gone.body.data.code).toBe('admin.export_gone');
    });
    expect((await read(id)).status).toBe('success');
  });

  it('goes also where the store refuses to delete another', async () => {
    const made = (at: number) =>
      h.db.logExport.create({
        data: {
          id: randomUUID(),
          organisationId: h.first.organisation_id,
          workspaceId: h.first.workspace_id,
          status: 'failed',
          objectKey: `parts-${at}`,
          filters: {},
          createdBy: randomUUID(),
        },
      });
    const first = await made(0);
    const second = await made(1);
    const left: string[] = [];
    const refusing = {
      list: async (folder: string) => ({ keys: [`${folder}0-0`], hasMore: false }),
      async delete([key = '']: readonly string[]) {
        if (key.includes(first.id)) throw new StoreError('refused', false);
        left.push(key);
      },
    };
    const now = () => new Date();
    const parts = { client: h.db, store: refusing, now } as never;
    const jobs = new ExportJobs(parts, { atOnce: 1, intervalMs: 0, leaseMs: 1000, keptMs: 1000 });
    await expect(jobs.sweep()).rejects.toThrow('refused');
    expect(left).toEqual([expect.stringContaining(second.id)]);
    const rows = await h.db.logExport.findMany({ where: { objectKey: { not: null } } });
    expect(rows.map(({ id }) => id)).toEqual([first.id]);
  });
});
