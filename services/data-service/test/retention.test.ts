import { randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { analytics } from '@sluice/proto-stubs';
import { createLogger } from '@sluice/telemetry';
import { freshName } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeeper } from '../src/retention/keeper.ts';
import { rollUp } from '../src/rollups/roll-up.ts';
import { analyticsHandlers } from '../src/rpc/analytics.ts';
import { sealDueDays } from '../src/seals/seal-due-days.ts';
import { verifyOrganisation } from '../src/seals/verify-organisation.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { encodedRecord } from './usage-records.ts';

const dayMs = 86_400_000;
/** The engine's own clock says what of a TTL is over. */
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
/** Days ago, of the records of each organisation. */
const ages = [130, 60, 10];
/** For how many days others keep what is made of attempts. Each day of a chain is a seal, which is an insert. */
const othersFiguresDays = 120;
const organisations = ['org-1', 'org-2'];

let ledger: Ledger;

beforeAll(async () => {
  ledger = await openLedger();
  await ledger.sink.write(
    organisations.flatMap((id) => ages.flatMap((age) => [at(id, age), at(id, age)])),
  );
  await settle();
});
afterAll(() => ledger.close());

function at(organisationId: string, age: number): Uint8Array {
  return encodedRecord({
    id: randomBytes(16),
    organisationId,
    createdAtMs: BigInt(todayMs - age * dayMs + 3_600_000),
  });
}

/** Rolls up and seals what there is. */
async function settle(): Promise<void> {
  const stopping = new AbortController().signal;
  while (
    (await rollUp({ client: ledger.client, slackMs: 0, givenUpMs: 0, sinceMs: 0, stopping })) > 0
  );
  await seal();
}

/** As two days from now: what is stored today is of a day that is over. */
const seal = () => sealDueDays(ledger.client, Date.now() + 2 * dayMs);

async function keep(
  logsDays: number,
  figuresDays = othersFiguresDays,
  id = 'org-1',
): Promise<void> {
  const logger = createLogger({ service: 'test', level: 'warn' });
  const keeper = createKeeper({ ...ledger, logger, nowMs: Date.now, isRolledUp: true });
  keeper.keep({
    others: { logsDays: 90, figuresDays: othersFiguresDays },
    organisations: new Map([[id, { logsDays, figuresDays }]]),
  });
  await keeper.idle();
}

/** How old the rows are that are left, in days, without what merges would take away. */
async function agesIn(table: string, organisationId: string): Promise<number[]> {
  const day = table === 'usage_records' ? 'toDate(created_at)' : 'toDate(intDiv(start, 1440))';
  const rows = await ledger.rows<{ age: number }>(
    `SELECT DISTINCT toInt32(toDate('${new Date(todayMs).toISOString().slice(0, 10)}') - ${day}) AS age
     FROM ${table} WHERE organisation_id = '${organisationId}' ORDER BY age DESC`,
  );
  return rows.map(({ age }) => age);
}

async function requestsOf(organisationId: string): Promise<number> {
  const { summary } = await analyticsHandlers(ledger).getGraph(
    create(analytics.GetGraphRequestSchema, {
      graph: analytics.Graph.REQUESTS,
      filter: { organisationId, fromMs: BigInt(todayMs - 150 * dayMs), toMs: BigInt(todayMs) },
    }),
    { signal: new AbortController().signal },
  );
  return Number(summary?.total);
}

const verify = (organisationId: string) =>
  verifyOrganisation(ledger.client, { organisationId, since: '' });

describe('retention', () => {
  it('deletes what is older than an organisation keeps it, attempts before what is made of them', async () => {
    await keep(90);
    for (const id of organisations) {
      expect(await agesIn('usage_records', id)).toEqual([60, 10]);
      for (const table of ['settled_entries', 'usage_rollups', 'usage_rolls'])
        expect(await agesIn(table, id)).toEqual([60, 10]);
      expect(await requestsOf(id)).toBe(4);
    }
  });

  it('lowered for one organisation takes attempts of that one, and its figures stay', async () => {
    await keep(40);
    expect(await agesIn('usage_records', 'org-1')).toEqual([10]);
    expect(await agesIn('usage_records', 'org-2')).toEqual([60, 10]);
    for (const id of organisations) {
      expect(await agesIn('settled_entries', id)).toEqual([60, 10]);
      expect(await requestsOf(id)).toBe(4);
    }
  });

  it('is told by the seals: what went by its age is no fault', async () => {
    const keptFrom = new Date(todayMs - 40 * dayMs).toISOString().slice(0, 10);
    expect(await verify('org-1')).toMatchObject({ faults: [], late: [], keptFrom });
    expect(await verify('org-2')).toMatchObject({
      faults: [],
      keptFrom: new Date(todayMs - 90 * dayMs).toISOString().slice(0, 10),
    });
  });

  it('does not let what comes late roll up a minute whose attempts are gone', async () => {
    await ledger.sink.write([at('org-1', 60)]);
    await settle();
    expect(await requestsOf('org-1')).toBe(4);
    await keep(40);
    expect(await agesIn('usage_records', 'org-1')).toEqual([10]);
    expect(await requestsOf('org-1')).toBe(4);
  });

  it('takes figures too when these are to go, of that organisation only', async () => {
    await keep(40, 40);
    for (const table of ['settled_entries', 'usage_rollups', 'usage_rolls']) {
      expect(await agesIn(table, 'org-1')).toEqual([10]);
      expect(await agesIn(table, 'org-2')).toEqual([60, 10]);
    }
    expect(await requestsOf('org-1')).toBe(2);
    expect(await requestsOf('org-2')).toBe(4);
  });

  it('keeps attempts of a month whatever is asked, for budgets are counted from them', async () => {
    await ledger.sink.write([at('org-1', 34)]);
    await settle();
    await keep(1, 1);
    expect(await agesIn('usage_records', 'org-1')).toEqual([34, 10]);
  });

  it('waits for roll-ups and seals before attempts go', async () => {
    const organisation = freshName('late-org');
    await ledger.sink.write([at(organisation, 60)]);
    await keep(40, othersFiguresDays, organisation);
    expect(await agesIn('usage_records', organisation)).toEqual([60]);
    await seal();
    await keep(40, othersFiguresDays, organisation);
    expect(await agesIn('usage_records', organisation)).toEqual([60]);
    await settle();
    await keep(40, othersFiguresDays, organisation);
    expect(await agesIn('usage_records', organisation)).toEqual([]);
    expect(await requestsOf(organisation)).toBe(1);
  });

  it('runs no mutation', async () => {
    expect(await ledger.rows('SELECT table, command FROM system.mutations')).toEqual([]);
  });
});
