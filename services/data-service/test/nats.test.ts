import { create, toBinary } from '@bufbuild/protobuf';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { usageStream } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import { eventually, type SpawnedServer, startNats, waitMs } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningService, runService } from './running-service.ts';
import { encodedRecord } from './usage-records.ts';

let server: SpawnedServer;
let nats: NatsConnection;
let manager: JetStreamManager;
const running: RunningService[] = [];

beforeEach(async () => {
  server = await startNats();
  nats = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  manager = await jetstreamManager(nats);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.end()));
  await nats.close();
  await server.stop();
});

/** In the host of the worker, where nobody kills it. */
async function start(): Promise<RunningService> {
  const service = await runService({ NATS_URL: server.url }, undefined, true);
  running.push(service);
  return service;
}

/** In a process of its own. */
async function startApart(dataDir?: string): Promise<RunningService> {
  const service = await runService({ NATS_URL: server.url }, dataDir);
  running.push(service);
  return service;
}

function message(...records: Uint8Array[]): Uint8Array {
  return toBinary(
    usage.WriteUsageRequestSchema,
    create(usage.WriteUsageRequestSchema, { records }),
  );
}

function publish(bytes: Uint8Array, timeout = waitMs) {
  return manager.jetstream().publish(usageStream.subject, bytes, { timeout });
}

async function streamExists() {
  await eventually(() => manager.consumers.info(usageStream.name, usageStream.durable));
}

async function unacknowledged(): Promise<number> {
  const { num_ack_pending, num_pending } = await manager.consumers.info(
    usageStream.name,
    usageStream.durable,
  );
  return num_ack_pending + num_pending;
}

async function allAcknowledged(timeoutMs?: number) {
  await eventually(async () => (await unacknowledged()) === 0, { timeoutMs });
}

/** `BACKLOG_RECORDS=1000000 npm test -- services/data-service/test/nats -t backlog` is the long form, and tells how fast it was. */
const backlog = Number(process.env.BACKLOG_RECORDS ?? 60_000);
const patienceMs = 120_000 + backlog;

const many = (count: number, some?: Parameters<typeof encodedRecord>[0]) =>
  Array.from({ length: count }, () => encodedRecord(some));

describe('the usage stream', () => {
  it('is created with a durable consumer, and kept on disk for days', async () => {
    await start();
    await streamExists();
    const { config } = await manager.streams.info(usageStream.name);
    expect(config).toMatchObject({
      subjects: [usageStream.subject],
      storage: 'file',
      retention: 'limits',
      max_age: usageStream.maxAgeMs * 1e6,
      // Full, it refuses: what it drops no outbox has any more.
      discard: 'new',
    });
    const consumer = await manager.consumers.info(usageStream.name, usageStream.durable);
    expect(consumer.config).toMatchObject({ ack_policy: 'explicit', max_deliver: -1 });
  });

  it('is taken as it is when an operator created it', async () => {
    await manager.streams.add({
      name: usageStream.name,
      subjects: [usageStream.subject],
      max_msgs: 1234,
    });
    const service = await start();
    await streamExists();
    await publish(message(encodedRecord()));
    await eventually(async () => (await service.count()) === 1);
    expect((await manager.streams.info(usageStream.name)).config.max_msgs).toBe(1234);
  });

  it.each([
    { wrong: 'a size, and drops the oldest', limits: { max_bytes: 10_000_000 }, dangers: 1 },
    {
      wrong: 'a size, and refuses',
      limits: { max_bytes: 10_000_000, discard: 'new' as const },
      dangers: 0,
    },
  ])(
    'is looked at by its limits: $dangers dangers where it has $wrong',
    async ({ limits, dangers }) => {
      await manager.streams.add({
        name: usageStream.name,
        subjects: [usageStream.subject],
        ...limits,
      });
      const service = await start();
      await eventually(async () => {
        const text = await (await fetch(`${service.httpUrl}/metrics`)).text();
        return new RegExp(`^usage_stream_dangers\\{.*\\} ${dangers}$`, 'm').test(text);
      });
      expect(service.log().includes('set discard to new')).toBe(dangers > 0);
    },
  );

  it(
    'takes a backlog of many messages without handing one back',
    async () => {
      await manager.streams.add({ name: usageStream.name, subjects: [usageStream.subject] });
      // More than the sink takes at once, and young, as what comes by NATS is: old ones are looked for first.
      const nowMs = Date.now();
      const young = () => many(200, { createdAtMs: BigInt(nowMs) });
      for (let published = 0; published < backlog; published += 20_000)
        await Promise.all(Array.from({ length: 100 }, () => publish(message(...young()))));
      const service = await start();
      await streamExists();
      const startedAt = performance.now();
      // How fast is no part of the guarantee.
      await allAcknowledged(patienceMs / 2);
      const perSecond = backlog / ((performance.now() - startedAt) / 1000);
      if (process.env.BACKLOG_RECORDS !== undefined)
        process.stdout.write(`${perSecond.toFixed(0)} records a second\n`);
      const { num_redelivered } = await manager.consumers.info(
        usageStream.name,
        usageStream.durable,
      );
      expect(num_redelivered).toBe(0);
      expect(service.log()).not.toContain('could not be stored');
      const range = { fromMs: BigInt(nowMs - 60_000), toMs: BigInt(nowMs + 60_000) };
      expect(await service.count(range)).toBe(backlog);
    },
    patienceMs,
  );

  it('is stored once, also when messages come twice and by both roads', async () => {
    const service = await start();
    await streamExists();
    const records = many(200);
    await Promise.all(records.map((record) => publish(message(record))));
    await Promise.all([
      publish(message(...records)),
      publish(message(...records)),
      service.write(records),
    ]);
    await allAcknowledged();
    expect(await service.count()).toBe(200);
  });

  it('keeps a message that is not a list of records among the rejects, and goes on', async () => {
    const service = await start();
    await streamExists();
    await publish(Buffer.from([0xff, 0xff, 0xff]));
    await publish(message(Buffer.from('garbage'), encodedRecord()));
    await allAcknowledged();
    expect(await service.count()).toBe(1);
    const text = await (await fetch(`${service.httpUrl}/metrics`)).text();
    expect(text).toMatch(/usage_rows_stored_total\{table="usage_rejects",.*\} 2/);
  });

  it('loses nothing when the process is killed between delivery and acknowledgement', async () => {
    const first = await startApart();
    await streamExists();
    const records = many(300);
    await Promise.all(records.map((record) => publish(message(record))));
    // Delivered and not acknowledged: the batch waits for its interval, or is being inserted.
    await eventually(
      async () =>
        (await manager.consumers.info(usageStream.name, usageStream.durable)).num_ack_pending > 0,
      { intervalMs: 1 },
    );
    await first.kill();
    expect(await unacknowledged()).toBeGreaterThan(0);
    const second = await startApart(first.dataDir);
    await allAcknowledged();
    expect(await second.count()).toBe(300);
  });

  it('counts 1,000 records once through several kills', async () => {
    let service = await startApart();
    await streamExists();
    const records = many(1000);
    for (let begin = 0; begin < records.length; begin += 250) {
      await Promise.all(
        records.slice(begin, begin + 250).map((record) => publish(message(record))),
      );
      // Later in the batcher's cycle each time, so that one life ends before and another after its insert.
      await new Promise((resolve) => setTimeout(resolve, begin / 3));
      await service.kill();
      service = await startApart(service.dataDir);
    }
    await allAcknowledged();
    expect(await service.count()).toBe(1000);
  });

  it('acknowledges everything that was delivered before a graceful stop ends', async () => {
    const service = await start();
    await streamExists();
    await Promise.all(many(50).map((record) => publish(message(record))));
    await eventually(
      async () =>
        (await manager.consumers.info(usageStream.name, usageStream.durable)).num_pending === 0,
      { intervalMs: 1 },
    );
    expect((await service.stop()).code).toBe(0);
    expect(await unacknowledged()).toBe(0);
  });

  it('is shared by replicas: each message goes to one of them', async () => {
    const replicas = await Promise.all([startApart(), startApart()]);
    await streamExists();
    await Promise.all(many(1500).map((record) => publish(message(record))));
    await allAcknowledged();
    const counts = await Promise.all(replicas.map((replica) => replica.count()));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1500);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });
});

describe('without NATS', () => {
  it('starts, serves gRPC and analytics, and consumes once NATS is there', async () => {
    await server.stop();
    const service = await start();
    expect((await fetch(`${service.httpUrl}/health/ready`)).status).toBe(200);
    await service.write([encodedRecord()]);
    expect(await service.count()).toBe(1);
    await server.restart();
    await streamExists();
    await publish(message(encodedRecord()));
    await eventually(async () => (await service.count()) === 2);
  });

  it('serves through an outage, and goes on consuming after it by itself', async () => {
    const service = await start();
    await streamExists();
    await publish(message(encodedRecord()));
    await eventually(async () => (await service.count()) === 1);
    for (const outage of ['killed', 'stopped']) {
      await (outage === 'killed' ? server.kill() : server.stop());
      await eventually(() => service.log().split('disconnected from NATS').length > 1);
      await service.write([encodedRecord()]);
      expect(await service.count()).toBe(outage === 'killed' ? 2 : 4);
      await server.restart();
      // One that goes out before the connection is there again is answered by nobody.
      await eventually(() => publish(message(encodedRecord()), 1000));
      await eventually(async () => (await service.count()) === (outage === 'killed' ? 3 : 5));
    }
  });

  it('creates the stream anew when it was deleted under it', async () => {
    const service = await start();
    // Only a pull that waits at the server is told of the deletion at once; else heartbeats must fail first.
    await eventually(async () => {
      const { num_waiting } = await manager.consumers.info(usageStream.name, usageStream.durable);
      return num_waiting > 0;
    });
    await manager.streams.delete(usageStream.name);
    await streamExists();
    await publish(message(encodedRecord()));
    await eventually(async () => (await service.count()) === 1);
  });

  it('does not start with an address that is none, and does not show its password', async () => {
    const failed = runService({ NATS_URL: 'nats://me:secret-password@host:not-a-port' });
    await expect(failed).rejects.toThrow('NATS_URL must be nats://host:port');
    await expect(failed).rejects.not.toThrow('secret-password');
  });

  it('stops at once while it still waits for a first connection', async () => {
    await server.stop();
    const service = await start();
    const askedAtMs = performance.now();
    expect((await service.stop()).code).toBe(0);
    expect(performance.now() - askedAtMs).toBeLessThan(3000);
  });
});
