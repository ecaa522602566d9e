import type { OtlpProtocol } from '@sluice/otlp';
import { type OtlpReceiver, startOtlpReceiver } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditForward } from '../../src/ledger/audit-forward/forward-audit.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
let receiver: OtlpReceiver;
beforeAll(async () => {
  [h, receiver] = await Promise.all([startHarness(), startOtlpReceiver()]);
});
afterAll(async () => {
  await h.stop();
  await receiver.close();
});

const told: object[] = [];
const lines: [fields: { reason?: string }, text: string][] = [];
const said = (fields: object, text: string) => lines.push([fields, text]);
const logger = {
  error: (fields: object) => told.push(fields),
  warn: said,
  info: said,
} as never;
const open = (protocol: OtlpProtocol = 'http/json', timeoutMs = 10_000) =>
  new AuditForward({
    client: h.db,
    target: {
      origin: receiver.url,
      path: '/v1/logs',
      headers: { 'x-key': 'of-the-receiver' },
      protocol,
      isCompressed: false,
      timeoutMs,
      tls: {},
    },
    resource: { 'service.name': 'sluice-control-plane' },
    now: () => new Date(Date.now() + h.clock.offsetMs),
    logger,
  });
const signal = new AbortController().signal;
const change = (name: string) =>
  h.as(h.first.workspace_key).post('/collections', { name }).expect(200);

beforeEach(async () => {
  // What the organisations did before is not looked at.
  await open().run(signal);
  receiver.logs.length = 0;
  receiver.requests.length = 0;
  told.length = 0;
  lines.length = 0;
});
afterEach(() => receiver.fail(undefined));

const sequences = () => receiver.logs.map(({ attributes }) => Number(attributes['audit.sequence']));

describe('forwarding audit logs', () => {
  it.each(['http/json', 'http/protobuf'] as const)(
    'brings each entry, with its place in the chain, by %s',
    async (protocol) => {
      await change(`By ${protocol}`);
      await change(`By ${protocol}, again`);
      const forward = open(protocol);
      await forward.run(signal);
      expect(receiver.faults).toEqual([]);
      const entries = await h.db.auditEntry.findMany({
        where: { organisationId: h.first.organisation_id },
        orderBy: { sequence: 'desc' },
        take: 2,
      });
      const [last, before] = entries.map(({ sequence }) => Number(sequence));
      expect(sequences()).toEqual([before, last]);
      expect(receiver.logs[1]).toMatchObject({
        severity: 9,
        scope: 'sluice.audit',
        attributes: {
          'audit.action': entries[0]?.action,
          'audit.resource_type': entries[0]?.resourceType,
          'audit.hash': Buffer.from(entries[0]?.hash ?? []).toString('hex'),
          'service.organisation.id': h.first.organisation_id,
          'http.response.status_code': 200,
        },
        resource: { 'service.name': 'sluice-control-plane' },
      });
      expect(JSON.parse(String(receiver.logs[1]?.body))).toMatchObject({ sequence: last });
      expect(receiver.requests[0]?.headers).toMatchObject({ 'x-key': 'of-the-receiver' });
      expect(forward.waiting).toBe(0);
      await forward.run(signal);
      expect(sequences()).toHaveLength(2);
    },
  );

  it.each(['hang', { status: 503 }] as const)(
    'leaves nothing out for a receiver that is away (%j)',
    async (how) => {
      receiver.fail(how);
      await change('While it is away');
      const impatient = open('http/json', 500);
      await impatient.run(signal);
      expect([impatient.waiting, receiver.logs.length]).toEqual([1, 0]);
      receiver.fail(undefined);
      await change('When it is back');
      await open().run(signal);
      const [first = 0, second] = sequences();
      expect([sequences().length, second]).toEqual([2, first + 1]);
    },
  );

  it.each([
    ['refuses its key', { status: 401 }, 'it answers 401'],
    ['is not there', { status: 404 }, 'it answers 404'],
    [
      'is behind a log-in',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      'it answers 302',
    ],
    [
      'is a page',
      { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>' },
      'it answers 200 and a page of HTML',
    ],
    ['hangs', 'hang', 'it does not answer in time'],
  ] as const)(
    'of a receiver that %s tells once, and leaves nothing out',
    async (_, how, reason) => {
      receiver.fail(how);
      await change('Not taken');
      const forward = open('http/json', 500);
      for (let run = 0; run < 3; run += 1) await forward.run(signal);
      expect(lines.map(([fields, text]) => [fields.reason, text])).toEqual([
        [reason, 'the receiver of audit logs takes nothing: entries wait'],
      ]);
      expect([forward.waiting, told]).toEqual([1, []]);
      receiver.fail(undefined);
      await forward.run(signal);
      expect(lines.at(-1)?.[1]).toBe('the receiver of audit logs takes entries again');
      expect([sequences().length, forward.waiting]).toEqual([1, 0]);
    },
  );

  it('tells of an entry that is refused, and goes on with it once it is not', async () => {
    receiver.fail({ status: 413 });
    await change('Refused');
    await change('Behind it');
    await h.as(h.other.workspace_key).post('/collections', { name: 'Of others' }).expect(200);
    const forward = open();
    await forward.run(signal);
    expect(told.map((fields) => Object.values(fields)[0]).toSorted()).toEqual(
      [h.first.organisation_id, h.other.organisation_id].toSorted(),
    );
    expect(told[0]).toMatchObject({ reason: 'it answers 413' });
    expect(forward.waiting).toBe(3);
    h.clock.offsetMs += 30_000;
    await forward.run(signal);
    h.clock.offsetMs -= 30_000;
    // Sent again, and told of once.
    expect(told).toHaveLength(2);
    receiver.fail(undefined);
    await forward.run(signal);
    expect(sequences()).toHaveLength(0);
    h.clock.offsetMs += 60_000;
    await forward.run(signal);
    expect(sequences()).toHaveLength(3);
    h.clock.offsetMs -= 60_000;
  });

  it('of two replicas one does it, and one that dies half-way is followed by another', async () => {
    await Promise.all(['a', 'b', 'c'].map((name) => change(`Concurrent ${name}`)));
    await Promise.all([open().run(signal), open().run(signal)]);
    expect(new Set(sequences()).size).toBe(3);
    expect(sequences()).toHaveLength(3);
    await change('Taken, and not noted');
    // As a replica leaves it that was killed between the answer and its note.
    await h.db.auditForward.updateMany({
      where: { organisationId: h.first.organisation_id },
      data: { leaseUntil: new Date(Date.now() + 30_000) },
    });
    await open().run(signal);
    expect(sequences()).toHaveLength(3);
    h.clock.offsetMs += 120_000;
    await open().run(signal);
    expect(sequences()).toHaveLength(4);
    h.clock.offsetMs -= 120_000;
  });
});
