import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { eventually, startStack, type TestStack, temporaryFolder } from '@sluice/testkit';
import { afterEach, expect, it } from 'vitest';
import { connectClickHouse } from '../src/clickhouse/connect.ts';

const count = 60_000;
const startMs = Date.UTC(2026, 0, 1);

let stack: TestStack | undefined;
afterEach(() => stack?.stop());

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
          costKnown: true,
          costNanoUsd: 10_000_000n,
          metadata: { _user: `user-${number % 100}` },
        }),
      );
    });
    await rpc.unary(usage.UsageService.method.writeUsage, { records }, { timeoutMs: 30_000 });
  }
  rpc.close();
}

/** In MB, as the kernel tells it. */
function residentMemory(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(line) / 1024;
}

it('an export of 60,000 rows has each once although the control plane is killed twice, in little memory', {
  timeout: 180_000,
}, async () => {
  const run = await startStack({
    logStore: true,
    environment: { 'control-plane': { LOG_EXPORT_LEASE: '1000', LOG_EXPORT_INTERVAL: '50' } },
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
      filters: { time_of_generation_max: '2026-01-02T00:00:00Z' },
      requested_data: [
        'id',
        'created_at',
        'is_success',
        'req_units',
        'cost',
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
  const id = await start('jsonl');
  const totalNow = async () => Number((await call('GET', `/logs/exports/${id}`)).total);
  for (const reached of [10_000, 30_000]) {
    await eventually(async () => expect(await totalNow()).toBeGreaterThanOrEqual(reached), {
      timeoutMs: 60_000,
    });
    // In the midst of the next part.
    await delay(150);
    await run.part('control-plane').kill();
    await run.part('control-plane').start();
    expect(await totalNow()).toBeLessThan(count);
  }
  const succeeded = (of: string) => async () =>
    expect(await call('GET', `/logs/exports/${of}`)).toMatchObject({ status: 'success' });
  await eventually(succeeded(id), { timeoutMs: 90_000 });
  const rows = (await fetched(id))
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { id: string; req_units: number; cost: number });
  expect(rows).toHaveLength(count);
  expect(new Set(rows.map((row) => row.id)).size).toBe(count);
  expect(rows.reduce((sum, row) => sum + row.req_units, 0)).toBe((count * (count - 1)) / 2);
  expect(rows.reduce((sum, row) => sum + row.cost, 0)).toBe(count);
  // Both have what they keep for good by now.
  const parts = ['control-plane', 'data-service'] as const;
  const memoryNow = () => parts.map((name) => residentMemory(run.part(name).pid ?? 0));
  const before = memoryNow();
  const columnar = await start('parquet');
  const most = [...before];
  await eventually(
    async () => {
      for (const [at, now] of memoryNow().entries()) most[at] = Math.max(most[at]!, now);
      await succeeded(columnar)();
    },
    { timeoutMs: 90_000 },
  );
  for (const [at, name] of parts.entries())
    expect(most[at]! - before[at]!, `${name}: ${before[at]} to ${most[at]} MB`).toBeLessThan(100);
  const path = join(await temporaryFolder('parquet'), 'logs.parquet');
  await writeFile(path, await fetched(columnar));
  // Another's reader of the format.
  const engine = await connectClickHouse({ dataDir: await temporaryFolder('engine') });
  const result = await engine.client.query({
    query: `SELECT toUInt32(count()) AS count, toUInt32(uniqExact(id)) AS ids, sum(req_units)::Float64 AS units,
        sum(cost) AS cost, toUInt32(countIf(is_success)) AS successes,
        toUnixTimestamp64Milli(max(created_at))::Float64 AS latest,
        toUInt32(countIf(JSONExtractString(metadata, '_user') = 'user-7')) AS ofOne,
        toUInt32(countIf(JSONExtractInt(response, 'status') = 200)) AS answered
      FROM file('${path}', Parquet)`,
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([
    {
      count,
      ids: count,
      units: (count * (count - 1)) / 2,
      cost: count,
      successes: count,
      latest: startMs + count - 1,
      ofOne: count / 100,
      answered: count,
    },
  ]);
  await engine.close();
});
