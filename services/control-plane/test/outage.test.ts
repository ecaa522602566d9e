import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { config } from '@sluice/proto-stubs';
import { eventually, startPostgres, type TestPostgres, waitMs } from '@sluice/testkit';
import { Client } from 'pg';
import type { Response, Test } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemEntry } from '../src/kernel/audit/system-entry.ts';
import { commitChange } from '../src/kernel/database/change.ts';
import { policyBody } from './support/fixture.ts';
import { type Harness, startHarness } from './support/harness.ts';

let postgres: TestPostgres;
let h: Harness;
beforeAll(async () => {
  postgres = await startPostgres();
  h = await startHarness({ databaseUrl: await postgres.createDatabase() });
});
afterAll(async () => {
  await h.stop();
  await postgres.stop();
});

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);

it('an outage of Postgres is a 503 by code, and over when Postgres is back', async () => {
  const events: string[] = [];
  const stream = h.rpc.serverStream(config.ConfigService.method.watch, { replicaId: 'test' });
  stream.on('error', () => {});
  stream.on('data', ({ event }: config.WatchResponse) => {
    if (event.case !== undefined && event.case !== 'heartbeat') events.push(event.case);
  });
  await eventually(() => expect(events).toEqual(['ready']));
  const policy = await workspace().post('/policies/rate-limits', policyBody).expect(200);
  await eventually(() => expect(events).toEqual(['ready', 'workspaceChanged']));

  const before = load(policy.body.id);
  await postgres.halt();
  // Whoever was in the middle is told the same as who comes later, or was served.
  const outcomes = await before.stop();
  expect([...outcomes.keys()].filter((outcome) => outcome !== '200')).toEqual([unavailable]);
  const during = load(policy.body.id);
  await delay(5_000);
  expect([...(await during.stop()).keys()]).toEqual([unavailable]);
  const ready = await fetch(`http://127.0.0.1:${h.service.httpPort}/health/ready`);
  expect(await ready.json()).toEqual({
    status: 'unavailable',
    missing: ['database', 'change-feed'],
  });

  await postgres.resume();
  await eventually(() => workspace().get('/configs').expect(200));
  await eventually(() => expect(events.slice(1)).toContain('ready'));
  // What was refused was not done; what is done now is told again.
  const read = await workspace().get(`/policies/rate-limits/${policy.body.id}`).expect(200);
  expect(read.body.value).toBe(policyBody.value);
  await workspace().put(`/policies/rate-limits/${policy.body.id}`, { value: 7 }).expect(200);
  await eventually(() => expect(events.at(-1)).toBe('workspaceChanged'));
  stream.cancel();
});

it('a replica that hangs in the middle of a change is given up, and others go on', async () => {
  const policy = await workspace().post('/policies/rate-limits', policyBody).expect(200);
  const begun = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const facts = { method: 'PUT', uri: 'test', resourceType: 'policies', action: 'update' } as const;
  const organisationId = h.first.organisation_id;
  const entry = systemEntry({ organisationId, timestamp: new Date(), ...facts });
  const hanging = commitChange(h.db, entry, async ({ db }) => {
    begun.resolve();
    await goesOn.promise;
    await db.$queryRaw`SELECT 1`;
  }).catch((error: unknown) => error);
  await begun.promise;
  await workspace().put(`/policies/rate-limits/${policy.body.id}`, { value: 8 }).expect(200);
  goesOn.resolve();
  expect(await hanging).toMatchObject({ code: 'admin.control_plane_unavailable' });
  const [{ limit } = { limit: '' }] = await h.db.$queryRaw<{ limit: string }[]>`
    SELECT current_setting('idle_in_transaction_session_timeout') AS limit`;
  expect(limit).toBe('1min');
});

it('connections to a server that only reads by now are given up for new ones', async () => {
  const policy = await workspace().post('/policies/rate-limits', policyBody).expect(200);
  const path = `/policies/rate-limits/${policy.body.id}`;
  const direct = await connected();
  const name = new URL(h.env.DATABASE_URL).pathname.slice(1);
  try {
    // Whoever connects now may only read, as at a primary that became a replica behind its old name.
    await direct.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await direct.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
      [name],
    );
    await eventually(() => workspace().get('/configs').expect(200));
    // Nobody is left who may change anything.
    const calls = Array.from({ length: 32 }, () => workspace().get(path).then(outcomeOf));
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['200']));
    expect(outcomeOf(await workspace().put(path, { value: 9 }))).toBe(unavailable);
    await workspace().get(path).expect(200);
  } finally {
    await direct.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await direct.end();
  }
  // Those that were made meanwhile go on reading only, and the one that was used last is used again.
  await eventually(
    async () => expect(outcomeOf(await workspace().put(path, { value: 7 }))).toBe('200'),
    { timeoutMs: 30_000 },
  );
});

describe('what Postgres gives up', () => {
  let direct: Client;
  beforeAll(async () => {
    direct = await connected();
  });
  afterAll(() => direct.end());

  /** While nobody can read a key. */
  async function whileKeysAreLocked(during: () => Promise<string>): Promise<string> {
    const holder = await connected();
    try {
      await holder.query('BEGIN; LOCK TABLE api_keys');
      return await during();
    } finally {
      await holder.end();
    }
  }

  /** What the end of `statement_timeout` is, without waiting for it. Within a transaction the view would stay as it was first seen. */
  const cancelWaiting = () =>
    eventually(async () => {
      const { rows } =
        await direct.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_get_activity(NULL)
        WHERE application_name = 'sluice-control-plane' AND wait_event_type = 'Lock'`);
      expect(rows).not.toEqual([]);
    });

  it('is a 503, where a statement of a caller took too long', async () => {
    const outcome = await whileKeysAreLocked(async () => {
      const answer = workspace().get('/configs').then(outcomeOf);
      await cancelWaiting();
      return answer;
    });
    expect(outcome).toBe(unavailable);
  });

  it('is told to a gateway as a control plane that is away', async () => {
    const outcome = await whileKeysAreLocked(async () => {
      const request = { keyHash: randomBytes(32) };
      const answer = h.rpc
        .unary(config.ConfigService.method.resolveKey, request, { timeoutMs: waitMs })
        .then(
          () => 'answered',
          ({ code, details }: { code: number; details: string }) => `${code} ${details}`,
        );
      await cancelWaiting();
      return answer;
    });
    expect(outcome).toBe('14 The database cannot be reached.');
  });

  it('is no refusal of a change that is done: nobody knows whether it is in force', async () => {
    const holder = await connected();
    try {
      // Nobody can connect meanwhile: these leave connections behind.
      const calls = Array.from({ length: 8 }, () => workspace().get('/configs'));
      await Promise.all(calls.map((call) => call.expect(200)));
      // Which replicas live is asked with it, after the change.
      await holder.query('BEGIN; LOCK TABLE pg_database');
      const answer = workspace().post('/policies/rate-limits', policyBody).then(identity);
      await cancelWaiting();
      const { status, headers, text } = await answer;
      expect([status, headers['x-service-in-force']], text).toEqual([200, 'pending']);
    } finally {
      await holder.end();
    }
  });

  it.each([
    ['a statement that took too long', '57014'],
    ['a lock that was waited for too long', '55P03'],
    ['a deadlock', '40P01'],
    ['a conflict of transactions', '40001'],
  ])('is a 503, where a change met %s', async (_name, state) => {
    const policy = await workspace().post('/policies/rate-limits', policyBody).expect(200);
    await direct.query(`CREATE OR REPLACE FUNCTION give_up() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${state}', MESSAGE = 'given up'; END $$`);
    await direct.query(
      'CREATE TRIGGER give_up BEFORE UPDATE ON rate_limits_policies EXECUTE FUNCTION give_up()',
    );
    const path = `/policies/rate-limits/${policy.body.id}`;
    const outcome = outcomeOf(await workspace().put(path, { value: 7 }));
    await direct.query('DROP TRIGGER give_up ON rate_limits_policies');
    expect(outcome).toBe(unavailable);
    const read = await workspace().get(path).expect(200);
    expect(read.body.value).toBe(policyBody.value);
  });
});

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: h.env.DATABASE_URL });
  await client.connect();
  return client;
}

const identity = (answer: Response) => answer;

const unavailable = '503 AB04 admin.control_plane_unavailable, again after 1 s';

function outcomeOf({ status, body, headers }: Response): string {
  const { 'retry-after': after } = headers;
  return status === 200
    ? '200'
    : `${status} ${body.data?.errorCode} ${body.data?.code}, again after ${after} s`;
}

/** Requests of every kind, several at once, until it is stopped: how often each outcome was met. */
function load(policyId: string): { stop(): Promise<Map<string, number>> } {
  const path = `/policies/rate-limits/${policyId}`;
  const outcomes = new Map<string, number>();
  let stopped = false;
  const worker = async (request: () => Test) => {
    while (!stopped) {
      const outcome = outcomeOf(await request());
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await delay(5);
    }
  };
  const workers = [
    () => workspace().get('/configs'),
    () => admin().get(path),
    () => workspace().put(path, { value: policyBody.value }),
    () => workspace().post('/configs', { name: 'x', config: { provider: '@demo' } }),
  ].map(worker);
  return {
    async stop() {
      stopped = true;
      await Promise.all(workers);
      return outcomes;
    },
  };
}
