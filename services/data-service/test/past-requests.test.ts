import { randomBytes } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { analytics } from '@sluice/proto-stubs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listPastRequests } from '../src/queries/logs/list-past-requests.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayMs, encodedRecord } from './usage-records.ts';

const requests = 4500;
const period = { organisationId: 'org-1', fromMs: BigInt(dayMs), toMs: BigInt(dayMs + 3_600_000) };
let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
  const records = Array.from({ length: requests }, (_, number) => {
    // Ten share each millisecond; every seventh was tried twice.
    const same = {
      requestId: randomBytes(16),
      createdAtMs: BigInt(dayMs + Math.floor(number / 10)),
    };
    const record = { ...same, metadata: { number: String(number) } };
    return number % 7 === 0
      ? [encodedRecord({ ...record, statusCode: 500 }), encodedRecord(record)]
      : [encodedRecord(record)];
  });
  await ledger.sink.write([
    ...records.flat(),
    encodedRecord({ organisationId: 'org-2', metadata: { number: 'other' } }),
    encodedRecord({ source: 'custom', metadata: { number: 'custom' } }),
    encodedRecord({ optionPath: 'cache.embedding', metadata: { number: 'vector' } }),
    encodedRecord({ rpcMethod: 'tools/call', metadata: { number: 'tool' } }),
    encodedRecord({ workspaceId: 'ws-2', userId: 'u', metadata: { number: 'ws-2' } }),
    encodedRecord({ createdAtMs: period.toMs, metadata: { number: 'late' } }),
  ]);
});
afterAll(() => ledger.close());

/** The numbers of the requests, one for each attempt. */
async function numbers(
  asked: MessageInitShape<typeof analytics.ListPastRequestsRequestSchema>,
  signal = new AbortController().signal,
): Promise<string[]> {
  const request = create(analytics.ListPastRequestsRequestSchema, { ...period, ...asked });
  const told: string[] = [];
  for await (const { attempts = [] } of listPastRequests(ledger.client, request, signal))
    told.push(...attempts.map(({ metadata }) => metadata?.number ?? ''));
  return told;
}

it('lists every request of the organisation with all its attempts, one request after the other, the oldest first', async () => {
  const told = await numbers({ requestsMax: 100_000 });
  const own = told.filter((number) => number !== 'ws-2');
  expect(own).toHaveLength(requests + Math.ceil(requests / 7));
  const each = own.filter((number, index) => number !== own[index - 1]).map(Number);
  expect(new Set(each).size).toBe(requests);
  expect(each).toHaveLength(requests);
  const times = each.map((number) => Math.floor(number / 10));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(told.length - own.length).toBe(1);
});

it('lists what may be seen, and no more requests than were asked for', async () => {
  expect(await numbers({ requestsMax: 10, workspaceIds: ['ws-2'] })).toEqual(['ws-2']);
  expect(await numbers({ requestsMax: 10, userId: 'u' })).toEqual(['ws-2']);
  expect(await numbers({ requestsMax: 10, userId: '' })).toEqual([]);
  expect(await numbers({ requestsMax: 10, organisationId: 'org-2' })).toEqual(['other']);
  const few = await numbers({ requestsMax: 4321, workspaceIds: ['ws-1'] });
  expect(new Set(few).size).toBe(4321);
});

it('asks for no more pages once nobody listens', async () => {
  const gone = new AbortController();
  gone.abort();
  expect(await numbers({ requestsMax: 10 }, gone.signal)).toEqual([]);
});

it('refuses a period of nothing, and a question of nobody', async () => {
  const refused = { code: 'admin.validation' };
  await expect(numbers({ requestsMax: 0 })).rejects.toMatchObject(refused);
  await expect(numbers({ requestsMax: 1, toMs: period.fromMs })).rejects.toMatchObject(refused);
  await expect(numbers({ requestsMax: 1, organisationId: '' })).rejects.toMatchObject(refused);
});
