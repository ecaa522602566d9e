import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { create, toBinary } from '@bufbuild/protobuf';
import { DuckDBInstance } from '@duckdb/node-api';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import {
  eventually,
  inTurns,
  isLongForm,
  startS3,
  startStack,
  type TestS3,
  type TestStack,
  temporaryFolder,
  waitMs,
} from '@sluice/testkit';
import { afterEach, expect, it, onTestFinished } from 'vitest';

/** `npm run test:long` has the second number, and `EXPORTED_ROWS=1000000 npm test -- services/data-service/test/log-exports` as many as that. */
const count = Number(process.env.EXPORTED_ROWS ?? (isLongForm ? 20_000 : 8_000));
/** Each row has so much in it that a file of few, which cost the CPU, is as large as one of many: the suite's is 34 MB. */
const note = 'n'.repeat(count < 20_000 ? 4000 : 1500);
/** The midnight before yesterday's, so that nothing is too old to be kept. */
const startMs = Math.floor(Date.now() / 86_400_000 - 2) * 86_400_000;
const patienceMs = 120_000 + count;

let stack: TestStack | undefined;
let s3: TestS3 | undefined;
afterEach(async () => {
  await stack?.stop();
  await s3?.close();
});

/** A UUIDv7. */
function idOf(number: number, kind: number): Uint8Array {
  const id = Buffer.alloc(16, kind);
  id.writeUIntBE(startMs + number, 0, 6);
  id[6] = 0x70;
  id[8] = 0x80;
  id.writeUInt32BE(number, 12);
  return id;
}

async function fill({ ports, serviceToken, credentials }: TestStack): Promise<void> {
  const rpc = createRpcClient(usage.UsageService, {
    address: `127.0.0.1:${ports.dataServiceGrpc}`,
    token: serviceToken,
  });
  for (let first = 0; first < count; first += 2_000) {
    const records = Array.from({ length: 2_000 }, (_, at) => {
      const number = first + at;
      return toBinary(
        usage.UsageRecordSchema,
        create(usage.UsageRecordSchema, {
          id: idOf(number, 1),
          requestId: idOf(number, 2),
          replicaId: 'replica-1',
          sequence: BigInt(number + 1),
          createdAtMs: BigInt(startMs + number),
          organisationId: credentials.organisation_id,
          workspaceId: credentials.workspace_id,
          workspaceSlug: credentials.workspace_slug,
          provider: 'openai',
          model: 'gpt-4o-mini',
          outcome: usage.Outcome.SUCCESS,
          statusCode: 200,
          inputTokens: BigInt(number),
          outputTokens: 5n,
          // Of the first nobody knows the price.
          costKnown: number > 0,
          costNanoUsd: number > 0 ? 10_000_000n : 0n,
          metadata: { _user: `user-${number % 100}`, note },
        }),
      );
    });
    await rpc.unary(usage.UsageService.method.writeUsage, { records }, { timeoutMs: waitMs });
  }
  rpc.close();
}

interface Row {
  id: string;
  req_units: number;
  cost: number;
  cost_known: boolean;
}

/** How many of the objects, one after the other, the file is made of. Parts of whoever was killed may lie beside them. */
async function partsIn(bucket: TestS3, id: string, file: Buffer): Promise<number> {
  const client = new S3Client({
    endpoint: bucket.origin,
    region: bucket.region,
    forcePathStyle: true,
    credentials: { accessKeyId: bucket.accessKeyId, secretAccessKey: bucket.secretAccessKey },
  });
  const { Contents: contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: bucket.bucket, Prefix: 'exports/' }),
  );
  const keys = contents.flatMap(({ Key: key }) => (key?.includes(`/${id}/`) ? [key] : []));
  const parts: Buffer[] = [];
  // One by one: of a million rows there are hundreds.
  for (const key of keys) {
    const { Body: body } = await client.send(
      new GetObjectCommand({ Bucket: bucket.bucket, Key: key }),
    );
    parts.push(Buffer.from((await body?.transformToByteArray()) ?? []));
  }
  client.destroy();
  let from = 0;
  let count = 0;
  while (from < file.length) {
    const next = parts.find(
      (part) => part.length > 0 && part.equals(file.subarray(from, from + part.length)),
    );
    expect(next, `an object of the bytes from ${from} on`).toBeDefined();
    from += next!.length;
    count++;
  }
  return count;
}

/** The most that each service has held so far; looking costs nothing, an answer through two services would. */
function watchMemory(run: TestStack) {
  const parts = ['control-plane', 'data-service'] as const;
  const most = parts.map(() => 0);
  const timer = setInterval(() => {
    for (const [at, name] of parts.entries()) {
      const { pid } = run.part(name);
      // It may just have been killed.
      if (pid !== undefined) most[at] = Math.max(most[at]!, residentMemory(pid));
    }
  }, 25);
  return {
    most: () => [...most],
    expectFlatSince(before: readonly number[]) {
      for (const [at, name] of parts.entries())
        expect(most[at]! - before[at]!, `${name}: ${before[at]} to ${most[at]} MB`).toBeLessThan(
          100,
        );
    },
    stop: () => clearInterval(timer),
  };
}

/** Another's reader of the format. */
async function readWithDuckDb(path: string): Promise<object[]> {
  const instance = await DuckDBInstance.create(':memory:', {
    // Nothing is fetched from anywhere.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  try {
    const reader = await connection.runAndReadAll(`SELECT count(*)::DOUBLE AS count,
        count(DISTINCT id)::DOUBLE AS ids, sum(req_units)::DOUBLE AS units, sum(cost) AS cost,
        (count(*) FILTER (WHERE is_success))::DOUBLE AS successes,
        (count(*) FILTER (WHERE cost_known))::DOUBLE AS known,
        epoch_ms(max(created_at))::DOUBLE AS latest,
        (count(*) FILTER (WHERE metadata LIKE '%"_user":"user-7"%'))::DOUBLE AS ofOne,
        (count(*) FILTER (WHERE response LIKE '%"status":200%'))::DOUBLE AS answered
      FROM read_parquet('${path}')`);
    return reader.getRowObjects();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** In MB, as the kernel tells it; 0 of a process that is gone. */
function residentMemory(pid: number): number {
  try {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(line ?? 0) / 1024;
  } catch {
    return 0;
  }
}

it('an export to a bucket has each row once although the control plane is killed twice, in little memory', {
  timeout: 2 * patienceMs,
}, async () => {
  const bucket = await startS3();
  s3 = bucket;
  const run = await startStack({
    promptLedger: true,
    processes: ['control-plane', 'data-service'],
    logStore: true,
    environment: {
      'control-plane': {
        LOG_EXPORT_LEASE: '1000',
        LOG_EXPORT_INTERVAL: '50',
        LOG_STORE: 's3_custom',
        LOG_STORE_BASEPATH: bucket.basePath,
        LOG_STORE_REGION: bucket.region,
        LOG_STORE_ACCESS_KEY: bucket.accessKeyId,
        LOG_STORE_SECRET_KEY: bucket.secretAccessKey,
      },
    },
  });
  stack = run;
  await fill(run);
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${run.credentials.base_url}${path}`, {
      method,
      headers: {
        'x-service-api-key': run.credentials.workspace_key,
        'content-type': 'application/json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };
  const start = async (format: string) => {
    const { id } = await call('POST', '/logs/exports', {
      filters: { time_of_generation_max: new Date(startMs + 86_400_000).toISOString() },
      requested_data: [
        'id',
        'created_at',
        'is_success',
        'req_units',
        'cost',
        'cost_known',
        'metadata',
        'response',
      ],
      all: true,
      format,
    });
    await call('POST', `/logs/exports/${id}/start`);
    return String(id);
  };
  const fetched = async (id: string) => {
    const { signed_url } = await call('GET', `/logs/exports/${id}/download`);
    const answer = await fetch(String(signed_url));
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  };
  const memory = watchMemory(run);
  onTestFinished(memory.stop);
  const id = await start('jsonl');
  const totalNow = async () => Number((await call('GET', `/logs/exports/${id}`)).total);
  // In the suite it is killed once.
  for (const reached of inTurns([count / 6, count / 2], 2)) {
    await eventually(async () => expect(await totalNow()).toBeGreaterThanOrEqual(reached), {
      timeoutMs: patienceMs,
      intervalMs: 100,
    });
    // In the midst of the next part.
    await delay(150);
    await run.part('control-plane').kill();
    await run.part('control-plane').start();
    expect(await totalNow()).toBeLessThan(count);
  }
  const succeeded = (of: string) => async () =>
    expect(await call('GET', `/logs/exports/${of}`)).toMatchObject({ status: 'success' });
  const ofHalf = memory.most();
  await eventually(succeeded(id), { timeoutMs: patienceMs, intervalMs: 250 });
  // The suite's few are over before there is a half to compare with.
  if (count >= 200_000) memory.expectFlatSince(ofHalf);
  const file = await fetched(id);
  const sums = { rows: 0, units: 0, cost: 0, known: 0 };
  const ids = new Set<string>();
  for (let from = 0; from < file.length; ) {
    const end = file.indexOf(10, from);
    const row = JSON.parse(file.toString('utf8', from, end)) as Row;
    from = end + 1;
    ids.add(row.id);
    sums.rows++;
    sums.units += row.req_units;
    sums.cost += row.cost;
    sums.known += Number(row.cost_known);
  }
  expect(sums).toEqual({
    rows: count,
    units: (count * (count - 1)) / 2,
    cost: count - 1,
    known: count - 1,
  });
  expect(ids.size).toBe(count);
  // As its vendor's own client reads the bucket, the parts one after the other are the file.
  expect(bucket.refusals).toEqual([]);
  expect(await partsIn(bucket, id, file)).toBeGreaterThan(2);
  // Allocators keep what an export needed once: the next one needs no more.
  const ofFirst = memory.most();
  const columnar = await start('parquet');
  await eventually(succeeded(columnar), { timeoutMs: patienceMs, intervalMs: 250 });
  memory.expectFlatSince(ofFirst);
  const path = join(await temporaryFolder('parquet'), 'logs.parquet');
  await writeFile(path, await fetched(columnar));
  expect(await readWithDuckDb(path)).toEqual([
    {
      count,
      ids: count,
      units: (count * (count - 1)) / 2,
      cost: count - 1,
      known: count - 1,
      successes: count,
      latest: startMs + count - 1,
      ofOne: count / 100,
      answered: count,
    },
  ]);
});
