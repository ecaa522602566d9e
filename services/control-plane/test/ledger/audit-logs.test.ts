import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { forwardedCallerHeader, forwardedCallerSeal } from '@sluice/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commitChange } from '../../src/kernel/database/change.ts';
import { createServiceKey, policyBody } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { readAs } from '../support/read-as.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);

async function records(query = '') {
  const answer = await admin().get(
    `/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z&${query}`,
  );
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as { records: Record<string, unknown>[]; total: number; object: string };
}

describe('the audit log', () => {
  const forwarded = {
    address: '203.0.113.7',
    host: 'sluice.example',
    proto: 'https',
    requestId: '0197b1b0-0001-7000-8000-000000000001',
  } as const;

  it('holds every change with who, what, where from and what came of it', async () => {
    const created = await workspace()
      .post('/integrations', {
        name: 'x',
        slug: 'audited',
        ai_provider_id: 'openai',
        key: 'sk-not-for-the-log',
      })
      .set(
        forwardedCallerHeader,
        forwardedCallerSeal(h.env.SERVICE_CLIENT_AUTH).sign(forwarded, Date.now()),
      );
    const { requestId } = forwarded;
    expect(created.headers['x-service-request-id']).toBe(requestId);
    const { records: found, total, object } = await records(`request_id=${requestId}`);
    expect([total, object]).toEqual([1, 'analytics-graph']);
    expect(found[0]).toMatchObject({
      method: 'POST',
      uri: '/v1/integrations',
      request_id: requestId,
      user_type: 'api_key',
      organisation_id: h.first.organisation_id,
      workspace_id: h.first.workspace_id,
      response_status_code: 200,
      resource_type: 'integrations',
      resource_id: created.body.id,
      action: 'create',
      client_ip: '203.0.113.7',
    });
    expect(JSON.parse(found[0]?.request_body as string)).toMatchObject({
      slug: 'audited',
      key: '*******',
    });
    expect(JSON.parse(found[0]?.request_headers as string)).toMatchObject({
      'x-service-api-key': '*******',
    });
    expect(JSON.stringify(found)).not.toContain('sk-not-for-the-log');
  });

  it('holds refused changes too, with their status', async () => {
    const narrow = await createServiceKey(h, h.first.workspace_id, ['configs.list']);
    const refused = [
      await h.as(narrow).post('/configs', { name: 'not mine', config: {} }),
      await workspace().post('/policies/rate-limits', { ...policyBody, value: 0 }),
      await workspace().delete('/configs/pc-none'),
      await admin().post('/configs', {}).set('content-type', 'application/json').send('{"broken'),
    ];
    expect(refused.map((answer) => answer.status)).toEqual([403, 400, 404, 400]);
    for (const answer of refused) {
      const { records: found } = await records(
        `request_id=${answer.headers['x-service-request-id']}`,
      );
      expect(found).toMatchObject([{ response_status_code: answer.status }]);
    }
    const forbidden = await records(
      'response_status_code=403&resource_type=configs&action=create&method=POST',
    );
    expect(
      forbidden.records.map((record) => JSON.parse(record.request_body as string).name),
    ).toContain('not mine');
  });

  it('holds no reads', async () => {
    const before = (await records()).total;
    await workspace().get('/configs');
    await workspace().get('/configs/pc-none');
    expect((await records()).total).toBe(before);
  });

  it('tells of a rotation which key, how, and until when the old secret works', async () => {
    const key = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['configs.list'],
    });
    const rotated = await workspace().post(`/api-keys/${key.body.id}/rotate`);
    const { records: found } = await records('action=rotate');
    expect(JSON.parse(found[0]?.detail as string)).toEqual({
      api_key_id: key.body.id,
      rotation_mode: 'manual',
      old_key_masked: expect.stringMatching(/^sl\*{7}/),
      transition_expires_at: rotated.body.key_transition_expires_at,
    });
    expect(JSON.stringify(found)).not.toContain(rotated.body.key);
  });

  it('pages, 100 at most, and is for organisation keys of the same organisation', async () => {
    const all = await records('page_size=100');
    const second = await records('page_size=1&current_page=1');
    expect(second.records).toEqual([all.records[1]]);
    const url = '/audit-logs?start_time=2020-01-01&end_time=2099-01-01';
    await admin().get(`${url}&page_size=101`).expect(400);
    await admin().get('/audit-logs').expect(400);
    for (const path of ['/audit-logs', '/audit-logs/export']) {
      const turned = await admin().get(`${path}?start_time=2099-01-01&end_time=2020-01-01`);
      expect([turned.status, turned.body.data.field]).toEqual([400, 'query.end_time']);
    }
    await admin().get(`${url}&organisation_id=${h.first.organisation_id}`).expect(200);
    await admin().get(`${url}&organisation_id=${h.other.organisation_id}`).expect(403);
    await workspace().get(url).expect(403);
    const theirs = (await h.as(h.other.admin_key).get(url)).body.records;
    expect(theirs.map((entry: { organisation_id: string }) => entry.organisation_id)).toEqual([
      h.other.organisation_id,
    ]);
    const elsewhere = await records('start_time=2020-01-01&end_time=2020-01-02').catch(
      () => undefined,
    );
    expect(elsewhere).toBeUndefined();
    expect(
      (await admin().get('/audit-logs?start_time=2020-01-01&end_time=2020-01-02')).body.records,
    ).toEqual([]);
    expect((await records(`workspace_id=${h.first.workspace_slug}`)).total).toBeGreaterThan(0);
  });

  it('holds what was changed as it was before and is after, in the same entry', async () => {
    const made = await workspace().post('/configs', { name: 'One', config: { provider: '@demo' } });
    const path = `/configs/${made.body.data.slug}`;
    const secret = { provider: 'openai', api_key: 'sk-not-for-the-log' };
    await workspace().put(path, { name: 'Two', config: secret }).expect(200);
    await workspace().delete(path).expect(200);
    const { records: found } = await records('resource_type=configs&page_size=3');
    const shown = found.map(({ action, before, after }) => ({
      action,
      before: before && JSON.parse(before as string).name,
      after: after && JSON.parse(after as string).name,
    }));
    expect(shown).toEqual([
      { action: 'delete', before: 'Two', after: undefined },
      { action: 'update', before: 'One', after: 'Two' },
      { action: 'create', before: undefined, after: 'One' },
    ]);
    expect(JSON.parse(found[1]?.after as string).config).toEqual({
      provider: 'openai',
      api_key: '*******',
    });
    expect(JSON.stringify(found)).not.toContain('sk-not-for-the-log');
  });

  it('holds conflicts and faults of ours among what was refused', async () => {
    const body = { name: 'x', slug: 'audited', ai_provider_id: 'openai' };
    const conflict = await workspace().post('/integrations', body);
    await h.db.$executeRawUnsafe('ALTER TABLE integration_models RENAME TO away');
    const fault = await workspace().put('/integrations/audited/models', { models: [] });
    await h.db.$executeRawUnsafe('ALTER TABLE away RENAME TO integration_models');
    expect([conflict.status, fault.status]).toEqual([409, 500]);
    for (const { headers, status } of [conflict, fault]) {
      const { records: found } = await records(`request_id=${headers['x-service-request-id']}`);
      expect(found).toMatchObject([{ response_status_code: status }]);
    }
  });

  it('is filtered by each of its fields', async () => {
    const { id: userId } = await h.db.user.findFirstOrThrow({
      where: { organisationId: h.first.organisation_id },
    });
    await commitChange(
      h.db,
      {
        organisationId: h.first.organisation_id,
        timestamp: new Date(),
        method: 'DELETE',
        uri: '/v1/a/place',
        requestId: 'filtered',
        requestBody: '',
        queryParams: '',
        requestHeaders: '{}',
        userId,
        userType: 'user',
        apiKeyId: null,
        workspaceId: h.first.workspace_id,
        responseStatusCode: 418,
        resourceType: 'labels',
        action: 'publish',
        clientIp: '198.51.100.9',
        country: 'PT',
      },
      async () => {},
    );
    for (const filter of [
      'uri=/v1/a/place',
      'request_id=filtered',
      `user_id=${userId}&method=DELETE&user_type=user`,
      'user_type=user',
      `workspace_id=${h.first.workspace_id}&action=publish`,
      'response_status_code=418',
      'resource_type=labels',
      'action=publish',
      'client_ip=198.51.100.9',
      'country=PT',
    ]) {
      const { records: found, total } = await records(filter);
      expect([filter, total, found[0]?.request_id]).toEqual([filter, 1, 'filtered']);
    }
    expect((await records('country=DE')).total).toBe(0);
    expect((await records('method=DELETE&action=create')).total).toBe(0);
  });
});

describe('the export of the audit log', () => {
  /** The lines of one call; the text ends with a whole one. */
  async function exported(query: string, who = admin()) {
    const answer = await who.get(`/audit-logs/export?${query}`).buffer(true).parse(readAs(String));
    const text = answer.body as string;
    if (answer.status !== 200) return { status: answer.status, lines: [], text };
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(text === '' || text.endsWith('\n')).toBe(true);
    return { status: 200, lines: text.split('\n').filter(Boolean).map(parsed), text };
  }
  const parsed = (line: string) => JSON.parse(line) as Record<string, unknown>;

  it('goes on where the call before ended, until nothing is left, and holds all once in order', async () => {
    const found: number[] = [];
    for (let cursor = 0; ; ) {
      const { lines } = await exported(`cursor=${cursor}&limit=3`);
      found.push(...lines.map((line) => line.sequence as number));
      if (lines.length === 0) break;
      cursor = found.at(-1) ?? cursor;
    }
    const { total } = await records();
    expect(found).toEqual(Array.from({ length: total }, (_, at) => at + 1));
    expect((await exported('limit=100000')).lines).toHaveLength(total);
  });

  it('tells JSON as JSON, who did it, and no secret', async () => {
    const { lines, text } = await exported('resource_type=integrations&action=create');
    expect(lines[0]).toMatchObject({
      user_type: 'system',
      request_body: null,
      method: 'POST',
    });
    expect(lines.find(({ client_ip: ip }) => ip === '203.0.113.7')).toMatchObject({
      user_type: 'api_key',
      request_body: { slug: 'audited', key: '*******' },
      request_headers: { 'x-service-api-key': '*******' },
      after: { slug: 'audited' },
    });
    expect(text).not.toContain('sk-not-for-the-log');
    expect((await exported('user_type=system')).lines.map((line) => line.user_type)).toContain(
      'system',
    );
    for (const { user_type: type } of (await exported('user_type=api_key')).lines)
      expect(type).toBe('api_key');
  });

  it('is of the caller’s organisation alone, and refuses what names nothing', async () => {
    const { lines } = await exported('', h.as(h.other.admin_key));
    expect(new Set(lines.map((line) => line.organisation_id))).toEqual(
      new Set([h.other.organisation_id]),
    );
    expect((await exported(`organisation_id=${h.other.organisation_id}`)).status).toBe(403);
    expect((await exported('', workspace())).status).toBe(403);
    const refused = await exported('resource_type=api-keys');
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('did you mean api_keys?'),
    ]);
    expect((await exported('limit=100001')).status).toBe(400);
    expect((await exported('workspace_id=nobody')).status).toBe(404);
  });
});

describe('the audit chain', () => {
  const verification = async () => (await admin().get('/audit-logs/verify').expect(200)).body;
  /** What an operator sees; the exit code says whether all is well. */
  async function command(organisation?: string): Promise<{ code: number; lines: string[] }> {
    const { code, stdout } = await commandAt(h.env.DATABASE_URL, organisation);
    return { code, lines: stdout.trim().split('\n') };
  }
  /** `npm run audit:verify` without npm. */
  async function commandAt(url: string | undefined, organisation: string | undefined) {
    const script = join(import.meta.dirname, '../../../../scripts/audit-verify.ts');
    const args = organisation === undefined ? [] : ['--organisation', organisation];
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { DATABASE_URL: url, PATH, NODE_COMPILE_CACHE };
    const run = promisify(execFile)(process.execPath, [script, ...args], { env });
    return run.then(
      (done) => ({ ...done, code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => error,
    );
  }
  const where = (sequence: bigint) => ({ organisationId: h.first.organisation_id, sequence });
  const entryAt = (sequence: bigint) =>
    h.db.auditEntry.findFirstOrThrow({ where: where(sequence) });

  beforeAll(async () => {
    await workspace().put('/integrations/audited', { name: 'Changed' }).expect(200);
  });

  it('is whole, also under changes at once', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        workspace().post('/configs', { name: `c${index}`, config: { provider: '@demo' } }),
      ),
    );
    const last = await h.db.auditEntry.findFirstOrThrow({
      where: { organisationId: h.first.organisation_id },
      orderBy: { sequence: 'desc' },
    });
    expect(await verification()).toEqual({
      object: 'audit-log-verification',
      organisation_id: h.first.organisation_id,
      valid: true,
      entries: Number(last.sequence),
      first_sequence: 1,
      last_sequence: Number(last.sequence),
      head_hash: Buffer.from(last.hash).toString('hex'),
    });
    const { code, lines } = await command();
    expect(code).toBe(0);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(new RegExp(`^${h.first.organisation_id}  valid  ${last.sequence} `));
    // Its making is the one thing that ever happened to it.
    expect(lines[1]).toMatch(
      new RegExp(`^${h.other.organisation_id}  valid  1 entries  head [0-9a-f]{64}$`),
    );
    expect((await command(h.other.organisation_id)).lines).toEqual(lines.slice(1));
  });

  it('says that it could not be looked at in a line, and not that it is broken', async () => {
    const faults: [string, string | undefined, RegExp][] = [
      [
        'postgres://nobody@127.0.0.1:1/x',
        undefined,
        /Can't reach database server at 127\.0\.0\.1:1$/,
      ],
      ['nonsense', undefined, /is not valid:\n {2}DATABASE_URL must have at least 16 characters/],
      [h.env.DATABASE_URL as string, 'nobody', /There is no organisation nobody\.$/],
    ];
    for (const [url, organisation, words] of faults) {
      const { code, stderr } = await commandAt(url, organisation);
      expect([url, code, stderr.trim()]).toEqual([url, 2, expect.stringMatching(words)]);
      expect(stderr).not.toMatch(/^\s+at |invocation/m);
    }
  });

  it('is verified for the organisation of the key, and by organisation keys only', async () => {
    const { body } = await h.as(h.other.admin_key).get('/audit-logs/verify').expect(200);
    expect(body).toMatchObject({
      organisation_id: h.other.organisation_id,
      valid: true,
      entries: 1,
      first_sequence: 1,
    });
    await workspace().get('/audit-logs/verify').expect(403);
  });

  it('takes no change and no removal of an entry', async () => {
    await expect(
      h.db.auditEntry.updateMany({ where: { sequence: 2 }, data: { action: 'nothing' } }),
    ).rejects.toThrow('audit entries are never changed');
    await expect(h.db.auditEntry.deleteMany({ where: { sequence: 2 } })).rejects.toThrow(
      'audit entries are never changed',
    );
  });

  /** Someone who is master of the database can go around the trigger, but not around the hashes. */
  describe('names', () => {
    let length: bigint;
    beforeAll(async () => {
      await h.db.$executeRawUnsafe(
        'ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_append_only',
      );
      ({ auditSequence: length } = await h.db.organisation.findUniqueOrThrow({
        where: { id: h.first.organisation_id },
      }));
    });

    async function expectFault(
      fault: object,
      tamper: () => Promise<unknown>,
      also: () => Promise<void> = async () => {},
    ) {
      const entries = await h.db.auditEntry.findMany({
        where: { organisationId: h.first.organisation_id },
      });
      const { auditSequence, auditHash } = await h.db.organisation.findUniqueOrThrow({
        where: { id: h.first.organisation_id },
      });
      await tamper();
      expect(await verification()).toMatchObject({ valid: false, fault });
      await also();
      await h.db.auditEntry.deleteMany({ where: { organisationId: h.first.organisation_id } });
      await h.db.auditEntry.createMany({ data: entries });
      await h.db.organisation.update({
        where: { id: h.first.organisation_id },
        data: { auditSequence, auditHash },
      });
      expect((await verification()).valid).toBe(true);
    }

    it.each([
      ['status', { responseStatusCode: 418 }],
      ['resource', { resourceId: 'another' }],
      ['body', { requestBody: '{}x' }],
    ])('the entry whose %s was altered', async (_field, data) => {
      const { id } = await entryAt(3n);
      await expectFault({ sequence: 3, id, reason: 'altered' }, () =>
        h.db.auditEntry.updateMany({ where: where(3n), data }),
      );
    });

    it.each(['before', 'after'] as const)('the entry whose "%s" was altered', async (field) => {
      const { id, sequence } = await h.db.auditEntry.findFirstOrThrow({
        where: { organisationId: h.first.organisation_id, [field]: { not: null } },
        orderBy: { sequence: 'asc' },
      });
      for (const data of [{ [field]: '{"name":"another"}' }, { [field]: null }])
        await expectFault({ sequence: Number(sequence), id, reason: 'altered' }, () =>
          h.db.auditEntry.updateMany({ where: where(sequence), data }),
        );
    });

    it('the entry to whoever verifies from the command line, too', async () => {
      const { id } = await entryAt(3n);
      await expectFault(
        { sequence: 3, id },
        () => h.db.auditEntry.updateMany({ where: where(3n), data: { action: 'x' } }),
        async () => {
          const { code, lines } = await command();
          expect(code).toBe(1);
          expect(lines[0]).toContain(`BROKEN  at sequence 3 (entry ${id}): altered.`);
          expect(lines[1]).toContain('valid');
        },
      );
    });

    it('the place of an entry that was removed, in the middle and at the end', async () => {
      for (const sequence of [4n, length])
        await expectFault({ sequence: Number(sequence), reason: 'missing' }, () =>
          h.db.auditEntry.deleteMany({ where: where(sequence) }),
        );
    });

    it('the first of two entries that were swapped', async () => {
      const { id: former } = await entryAt(5n);
      const { id: latter } = await entryAt(6n);
      await expectFault({ sequence: 5, id: latter, reason: 'altered' }, async () => {
        await h.db.auditEntry.update({ where: { id: former }, data: { sequence: 1000n } });
        await h.db.auditEntry.update({ where: { id: latter }, data: { sequence: 5n } });
        await h.db.auditEntry.update({ where: { id: former }, data: { sequence: 6n } });
      });
    });

    it('an end that the organisation’s own record was moved to', async () => {
      const entry = await entryAt(length - 1n);
      const { id } = await entryAt(length);
      await expectFault({ sequence: Number(length), id, reason: 'head' }, () =>
        h.db.organisation.update({
          where: { id: h.first.organisation_id },
          data: { auditSequence: entry.sequence, auditHash: entry.hash },
        }),
      );
    });
  });
});
