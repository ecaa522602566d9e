import { randomBytes } from 'node:crypto';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { encodeEntry, uuidText } from '@sluice/usage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsMax } from '../src/queries/logs/read-attempts.ts';
import { logHandlers } from '../src/rpc/logs.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayFilter, dayMs, encodedRecord } from './usage-records.ts';

type RecordInit = MessageInitShape<typeof usage.UsageRecordSchema>;

let ledger: Ledger;
let logs: ReturnType<typeof logHandlers>;
const context = { signal: new AbortController().signal };
beforeAll(async () => {
  ledger = await openLedger();
  logs = logHandlers(ledger.questions);
});
afterAll(() => ledger.close());

/** A UUIDv7 of that millisecond. */
function idAt(ms: number): Uint8Array {
  const id = randomBytes(16);
  id.writeUIntBE(ms, 0, 6);
  id[6] = 0x70 | (id[6]! & 0x0f);
  id[8] = 0x80 | (id[8]! & 0x3f);
  return new Uint8Array(id);
}

async function write(records: readonly RecordInit[]): Promise<void> {
  await ledger.sink.write(
    records.map((record) => encodedRecord(record)),
    context.signal,
  );
}

/** A request that arrived so many ms after the test's midnight, and each of its attempts. */
function request(organisationId: string, atMs: number, attempts: readonly RecordInit[]) {
  const requestId = idAt(dayMs + atMs);
  const records = attempts.map((attempt, index) => ({
    organisationId,
    requestId,
    id: idAt(dayMs + atMs + index),
    createdAtMs: BigInt(dayMs + atMs),
    traceId: uuidText(requestId),
    ...attempt,
  }));
  return { requestId: uuidText(requestId), records, ids: records.map(({ id }) => uuidText(id)) };
}

const list = (some: MessageInitShape<typeof analytics.ListLogsRequestSchema>) =>
  logs.listLogs(
    create(analytics.ListLogsRequestSchema, some),
    context,
  ) as Promise<analytics.ListLogsResponse>;
const get = (some: MessageInitShape<typeof analytics.GetLogRequestSchema>) =>
  logs.getLog(
    create(analytics.GetLogRequestSchema, some),
    context,
  ) as Promise<analytics.GetLogResponse>;
const attemptsOf = (some: MessageInitShape<typeof analytics.ListAttemptsRequestSchema>) =>
  logs.listAttempts(
    create(analytics.ListAttemptsRequestSchema, some),
    context,
  ) as Promise<analytics.ListAttemptsResponse>;

describe('a record', () => {
  it('is read as it was written, field by field', async () => {
    const whole: Record<string, unknown> = {};
    for (const field of usage.UsageRecordSchema.fields) whole[field.localName] = exampleOf(field);
    const record = create(usage.UsageRecordSchema, {
      ...(whole as RecordInit),
      id: idAt(dayMs + 5),
      requestId: idAt(dayMs),
      entryId: idAt(dayMs + 4),
      createdAtMs: BigInt(dayMs),
      organisationId: 'org-whole',
    });
    await write([record]);
    const { attempts } = await attemptsOf({
      organisationId: 'org-whole',
      requestId: uuidText(record.requestId),
    });
    expect(attempts).toEqual([record]);
  });
});

/** A value of the field's kind that is not its default. */
function exampleOf(field: (typeof usage.UsageRecordSchema.fields)[number]): unknown {
  if (field.fieldKind === 'enum') return usage.Outcome.PARTIAL;
  if (field.fieldKind === 'list') return ['a', 'b"c'];
  if (field.fieldKind === 'map')
    return field.name === 'metadata' ? { k: "v'ä\n" } : { k: 2n ** 60n };
  const { localName } = field;
  const { scalar } = field as { scalar: number };
  // BOOL, STRING, BYTES, DOUBLE, 32 bits, and what is left has 64.
  if (scalar === 8) return true;
  if (scalar === 9) return `of ${localName} \\ 'ä' \u{1f600}`;
  if (scalar === 12) return new Uint8Array(randomBytes(16));
  if (scalar === 1) return 12.25;
  if (scalar === 13 || scalar === 17) return 77;
  return 2n ** 53n + 1n;
}

describe('ListLogs', () => {
  const organisationId = 'org-list';
  const filter = () => dayFilter({ organisationId });

  it('pages through all entries from the newest on, each once, whatever came meanwhile', async () => {
    // Many of one millisecond, some hours apart, one with retries.
    const all = [
      ...Array.from({ length: 30 }, () => request(organisationId, 0, [{}])),
      ...Array.from({ length: 30 }, (_, index) => request(organisationId, index * 2_000_000, [{}])),
    ];
    const retried = request(organisationId, 70_000_000, [
      { statusCode: 503, costNanoUsd: 100n },
      { statusCode: 200, costNanoUsd: 4500n, retryCount: 1 },
    ]);
    retried.records[1]!.entryId = retried.records[0]!.id;
    await write([...all, retried].flatMap(({ records }) => records));
    const seen: string[] = [];
    let cursor = '';
    let pages = 0;
    do {
      const page = await list({ filter: filter(), pageSize: 7, cursor });
      if (cursor === '') expect([page.total, page.totalIsBound]).toEqual([61n, false]);
      seen.push(...page.entries.map(({ record }) => uuidText(record!.id)));
      cursor = page.nextCursor;
      pages += 1;
      if (pages === 2) await write(request(organisationId, 80_000_000, [{}]).records);
    } while (cursor !== '');
    const ids = [...all.map(({ ids: [id] }) => id), retried.ids[1]];
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(pages).toBe(9);
    const { entries } = await list({ filter: filter(), pageSize: 3 });
    expect(entries.find(({ attempts }) => attempts === 2)).toMatchObject({
      record: { statusCode: 200, retryCount: 1, inputTokens: 20n, costNanoUsd: 4600n },
    });
  });

  it('finds text in address, model, error and metadata, and by every filter', async () => {
    const of = 'org-search';
    await write([
      ...request(of, 1, [{ requestUrl: '/v1/Needle' }]).records,
      ...request(of, 2, [{ model: 'needle-4' }]).records,
      ...request(of, 3, [{ errorCode: 'a.needle', statusCode: 503 }]).records,
      ...request(of, 4, [{ metadata: { tag: 'a NEEDLE here' } }]).records,
      ...request(of, 5, [{ model: 'hay' }]).records,
    ]);
    const found = await list({ filter: dayFilter({ organisationId: of, search: 'needle' }) });
    expect(found.total).toBe(4n);
    const failed = await list({
      filter: dayFilter({ organisationId: of, search: 'needle', isSuccess: false }),
    });
    expect(failed.entries).toMatchObject([{ record: { errorCode: 'a.needle' } }]);
  });

  it('refuses a cursor that no page named, and a filter without an organisation', async () => {
    for (const text of ['nonsense', `${dayMs + 1} ${'-'.repeat(36)}`])
      await expect(
        list({ filter: filter(), cursor: Buffer.from(text).toString('base64url') }),
      ).rejects.toThrow(/cursor/);
    await expect(list({ filter: dayFilter({ organisationId: '' }) })).rejects.toThrow();
  });
});

describe('GetLog', () => {
  const organisationId = 'org-get';

  it('finds an entry by its own id and by that of any of its attempts, with what was added to its cost', async () => {
    const { records, ids } = request(organisationId, 1000, [
      { statusCode: 503, costKnown: false, costNanoUsd: 0n },
      { statusCode: 200, retryCount: 1 },
    ]);
    records[1]!.entryId = records[0]!.id;
    await write(records);
    for (const id of ids) {
      const { entry, attempts } = await get({ organisationId, id });
      expect(entry).toMatchObject({ attempts: 2, record: { statusCode: 200, costNanoUsd: 4500n } });
      expect(attempts.map(({ statusCode }) => statusCode)).toEqual([503, 200]);
    }
  });

  it('finds one whose first attempt is lost', async () => {
    const lost = idAt(dayMs + 5000);
    const { records } = request(organisationId, 5000, [{ entryId: lost, retryCount: 1 }]);
    await write(records);
    const { entry } = await get({ organisationId, id: uuidText(lost) });
    expect(entry).toMatchObject({ attempts: 1 });
  });

  it('shows nothing of other organisations, workspaces and users', async () => {
    const { records, ids } = request(organisationId, 9000, [{ userId: 'anna' }]);
    await write(records);
    const id = ids[0]!;
    for (const allowed of [{}, { workspaceIds: ['ws-1'] }, { userId: 'anna' }])
      expect((await get({ organisationId, id, ...allowed })).entry).toBeDefined();
    for (const allowed of [
      { organisationId: 'org-other' },
      { workspaceIds: ['ws-2'] },
      { userId: 'bert' },
      { userId: '' },
    ])
      expect((await get({ organisationId, id, ...allowed })).entry).toBeUndefined();
    expect((await get({ organisationId, id: uuidText(idAt(dayMs)) })).entry).toBeUndefined();
    await expect(get({ organisationId, id: 'none' })).rejects.toThrow(/UUID/);
  });
});

describe('ListAttempts', () => {
  const organisationId = 'org-attempts';

  it('of a request are in the order in which they began, with those that its checks made', async () => {
    const { records, requestId } = request(organisationId, 100, [{}, {}, {}]);
    const check = { ...records[0]!, id: idAt(dayMs + 101), createdAtMs: BigInt(dayMs + 5100) };
    await write([...records.toReversed(), check]);
    const { attempts } = await attemptsOf({ organisationId, requestId });
    expect(
      attempts.map(({ id }) => Number.parseInt(Buffer.from(id).toString('hex', 0, 6), 16)),
    ).toEqual([100, 101, 101, 102].map((ms) => dayMs + ms));
  });

  it('have what their hooks came to later, by request, in a trace too', async () => {
    const [one, other] = [400, 401].map((atMs) =>
      request(organisationId, atMs, [{ traceId: 'hooked' }]),
    ) as [ReturnType<typeof request>, ReturnType<typeof request>];
    await write([...one.records, ...other.records]);
    const hookOf = ({ requestId, createdAtMs }: RecordInit, id: string) =>
      create(usage.LateHookSchema, {
        id: idAt(dayMs + 500),
        organisationId,
        requestId,
        optionPath: 'config',
        verdictJson: JSON.stringify({ id }),
        createdAtMs,
      });
    const hooks = [
      hookOf(one.records[0]!, 'first'),
      hookOf(other.records[0]!, 'second'),
      hookOf(request(organisationId, 402, [{}]).records[0]!, 'of none of them'),
    ];
    await ledger.sink.write(
      hooks.map((hook) =>
        encodeEntry(usage.EntryKind.LATE_HOOK, toBinary(usage.LateHookSchema, hook)),
      ),
      context.signal,
    );
    const told = ({ lateHooks }: analytics.ListAttemptsResponse) =>
      lateHooks.map(({ requestId, verdictJson }) => [uuidText(requestId), verdictJson]).sort();
    expect(told(await attemptsOf({ organisationId, traceId: 'hooked' }))).toEqual(
      [
        [one.requestId, '{"id":"first"}'],
        [other.requestId, '{"id":"second"}'],
      ].sort(),
    );
    expect(told(await attemptsOf({ organisationId, requestId: other.requestId }))).toEqual([
      [other.requestId, '{"id":"second"}'],
    ]);
  });

  it('have what was added to their costs, whose record is left as it is', async () => {
    const { records, requestId, ids } = request(organisationId, 300, [
      { costKnown: false, costNanoUsd: 0n },
      {},
    ]);
    await write(records);
    const adjustment = (some: MessageInitShape<typeof usage.AdjustmentSchema>) => {
      const body = create(usage.AdjustmentSchema, {
        id: randomBytes(16),
        recordId: records[0]!.id,
        organisationId,
        workspaceId: 'ws-1',
        attemptCreatedAtMs: records[0]!.createdAtMs,
        createdAtMs: BigInt(dayMs),
        ...some,
      });
      return encodeEntry(usage.EntryKind.ADJUSTMENT, toBinary(usage.AdjustmentSchema, body));
    };
    await ledger.sink.write([
      adjustment({ costNanoUsd: 70n, makesKnown: true }),
      adjustment({ costNanoUsd: -20n }),
      adjustment({ costNanoUsd: 9n, organisationId: 'org-other' }),
    ]);
    const { attempts, adjusted } = await attemptsOf({ organisationId, requestId });
    expect(attempts.map(({ costNanoUsd }) => costNanoUsd)).toEqual([0n, 4500n]);
    expect(
      adjusted.map(({ recordId, costNanoUsd, makesKnown }) => [
        uuidText(recordId),
        costNanoUsd,
        makesKnown,
      ]),
    ).toEqual([[ids[0], 50n, true]]);
  });

  it('are those of a key alone for the key', async () => {
    const { records, requestId } = request(organisationId, 200, [{ apiKeyId: 'key-1' }]);
    await write(records);
    for (const [apiKeyId, count] of [
      ['key-1', 1],
      ['key-2', 0],
    ] as const)
      expect((await attemptsOf({ organisationId, requestId, apiKeyId })).attempts.length).toBe(
        count,
      );
  });

  it('of a trace are all of it, up to a bound that is told', async () => {
    const traceId = 'a-trace';
    await write(
      Array.from(
        { length: attemptsMax + 1 },
        (_, index) => request(organisationId, 10_000 + index, [{ traceId }]).records[0]!,
      ),
    );
    const found = await attemptsOf({ organisationId, traceId });
    expect([found.attempts.length, found.isCutOff]).toEqual([attemptsMax, true]);
    await expect(attemptsOf({ organisationId })).rejects.toThrow(/must be given/);
  });
});

describe('a look-up among many rows', () => {
  it('by id and by request reads a granule or two, by trace those that its index admits', async () => {
    const organisationId = 'org-many';
    // Rows as gateways write them: an id of the time at which the attempt began, just after the request's.
    const digits = (salt: number) => `leftPad(hex(cityHash64(number, ${salt})), 16, '0')`;
    const id7 = (salt: number) =>
      `toUUID(concat(substring(ms_hex, 1, 8), '-', substring(ms_hex, 9, 4), '-7', substring(${digits(salt)}, 1, 3),
        '-8', substring(${digits(salt)}, 4, 3), '-', substring(${digits(salt + 1)}, 1, 12)))`;
    await ledger.client.command({
      query: `INSERT INTO usage_records (id, request_id, trace_id, organisation_id, workspace_id, created_at, outcome)
        SELECT ${id7(1)}, ${id7(3)}, toString(cityHash64(number, 7)), '${organisationId}', 'ws-1',
          fromUnixTimestamp64Milli(ms, 'UTC'), 'success'
        FROM (SELECT number, toInt64(${dayMs} + number * 40) AS ms,
          leftPad(hex(toUInt64(ms)), 12, '0') AS ms_hex FROM numbers(400000))`,
    });
    const [row] = await ledger.rows<{ id: string; request_id: string; trace_id: string }>(
      `SELECT id, request_id, trace_id FROM usage_records WHERE organisation_id = '${organisationId}' LIMIT 1 OFFSET 200000`,
    );
    const { id, request_id: requestId, trace_id: traceId } = row!;
    const read = async (run: () => Promise<unknown>) => {
      const before = await rowsRead();
      await run();
      return (await rowsRead()) - before;
    };
    expect((await get({ organisationId, id })).entry).toBeDefined();
    expect(await read(() => get({ organisationId, id }))).toBeLessThan(150_000);
    expect(await read(() => attemptsOf({ organisationId, requestId }))).toBeLessThan(30_000);
    expect(await read(() => attemptsOf({ organisationId, traceId }))).toBeLessThan(60_000);
    expect(await read(() => get({ organisationId, id: uuidText(idAt(dayMs)) }))).toBeLessThan(
      60_000,
    );
  });
});

/** By all questions so far. */
async function rowsRead(): Promise<number> {
  const [row] = await ledger.rows<{ rows: string }>(
    "SELECT value AS rows FROM system.events WHERE event = 'SelectedRows'",
  );
  return Number(row?.rows ?? 0);
}
