import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import type { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import { Outbox } from '../usage/outbox.ts';
import { recordAttempt } from '../usage/record-attempt.ts';
import { UsageRecorder } from '../usage/usage-recorder.ts';
import { SessionMeter, type UsedEvent } from './session-meter.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'session-meter-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const bytesMax = 64 * 1024;

function metered(outbox: Outbox) {
  const recorder = new UsageRecorder(outbox, {
    replicaId: 'r',
    gatewayVersion: '1',
    follow: undefined,
  });
  const target = { entry: { id: 'openai' }, servedModel: 'gpt-realtime', path: '', planned: {} };
  const exchange = exampleExchange({ key: exampleKey(), bundle: exampleBundle() });
  const meter = new SessionMeter({ target } as unknown as PreparedCall, exchange, {
    limits: {} as never,
    watch: {} as never,
    listeners: [recordAttempt(recorder, () => undefined)],
    recorder,
    estimate: () => undefined as never,
    content: undefined,
    onMetered: () => {},
  });
  const refusals: string[] = [];
  meter.onRefused = (error: GatewayError) => refusals.push(error.code);
  return { meter, refusals };
}

const event = (status: number): UsedEvent => ({
  type: 'response.done',
  startedAt: performance.now(),
  facts: {} as never,
  outcome: usage.Outcome.SUCCESS,
  status,
  errorCode: '',
});

const filler = Buffer.alloc(1024);

/** The statuses of what is stored. */
function stored(outbox: Outbox): number[] {
  const statuses: number[] = [];
  for (let batch = outbox.read(1000); batch !== undefined; batch = outbox.read(1000, batch.next))
    for (const bytes of batch.records)
      if (!filler.equals(bytes))
        statuses.push(fromBinary(usage.UsageRecordSchema, bytes).statusCode);
  return statuses;
}

describe('what a session used', () => {
  it('is recorded although the outbox is full, and then the session is refused more', async () => {
    const outbox = new Outbox({ dir, bytesMax });
    while (!outbox.isFull) {
      await outbox.end(Buffer.alloc(16, 1), filler);
      outbox.flush();
    }
    const { meter, refusals } = metered(outbox);
    for (const status of [201, 202]) meter.used(event(status));
    await meter.end();
    outbox.flush();
    expect(stored(outbox)).toEqual([201, 202]);
    expect(refusals).toEqual(['gateway.ledger_full', 'gateway.ledger_full']);
    outbox.close();
  });

  it('is recorded although more waits than may, and then the session is refused more', async () => {
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
    const { meter, refusals } = metered(outbox);
    const count = 1002;
    for (let n = 0; n < count; n++) meter.used(event(200));
    await meter.end();
    outbox.flush();
    expect(stored(outbox)).toHaveLength(count);
    expect(refusals).toEqual(['overloaded', 'overloaded']);
    outbox.close();
  });
});
