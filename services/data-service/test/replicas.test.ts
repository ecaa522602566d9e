import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaFolder } from '../src/clickhouse/apply-schema.ts';
import { connectClickHouse } from '../src/clickhouse/connect.ts';
import { replicatedStatement, replicationOf } from '../src/clickhouse/replication.ts';
import { migrateClickHouse } from '../src/migrate.ts';
import { type ClickHouseFront, startClickHouseFront } from './clickhouse-front.ts';
import { runService } from './running-service.ts';
import { encodedRecord } from './usage-records.ts';

const cluster = 'ledger_1';
const enabled = { CLICKHOUSE_REPLICATION_ENABLED: true, CLICKHOUSE_URL: 'http://clickhouse:8123' };

let clickHouse: ClickHouseFront;
beforeAll(async () => {
  clickHouse = await startClickHouseFront({ replicaOf: cluster });
});
afterAll(() => clickHouse.close());

describe('the schema for replicas', () => {
  it('is read by the engine as one for all servers, whose tables are replicated', async () => {
    const { client, close } = await connectClickHouse({ url: clickHouse.url });
    for (const name of (await readdir(schemaFolder)).filter((each) => each.endsWith('.sql'))) {
      const statement = await readFile(join(schemaFolder, name), 'utf8');
      const tree = async (place: string | undefined) => {
        const result = await client.query({
          query: 'SELECT formatQuerySingleLine({statement:String}) AS text',
          query_params: { statement: replicatedStatement(statement, place) },
          format: 'JSONEachRow',
        });
        const [row] = await result.json<{ text: string }>();
        return row?.text ?? '';
      };
      const text = await tree(cluster);
      const isFilling = text.startsWith('INSERT INTO ');
      expect(text.includes(` ON CLUSTER ${cluster} `), name).toBe(!isFilling);
      expect(/ENGINE = (?!Replicated)/.test(text), name).toBe(false);
      expect(text.includes('ENGINE = Replicated'), name).toBe(text.startsWith('CREATE TABLE'));
      expect(await tree(undefined), name).toBe(text.replace(` ON CLUSTER ${cluster}`, ''));
    }
    await close();
  });

  it('knows no statement by half', () => {
    expect(() => replicatedStatement('DROP TABLE usage_records', cluster)).toThrow('DROP TABLE');
  });
});

describe('a ledger on replicas', () => {
  it('is made, written and rolled up there: most have an insert before it is answered', async () => {
    const { steps } = await migrateClickHouse(clickHouse.url, false, { cluster });
    expect(steps).toContain('0001_usage_records.sql');
    expect((await migrateClickHouse(clickHouse.url, true)).steps).toEqual([]);
    const service = await runService({
      CLICKHOUSE_URL: clickHouse.url,
      CLICKHOUSE_REPLICATION_ENABLED: 'true',
      CLICKHOUSE_CLUSTER_NAME: cluster,
    });
    await service.write([encodedRecord({ organisationId: 'replicated' })]);
    expect(await service.count({ organisationId: 'replicated' })).toBe(1);
    await eventually(() =>
      clickHouse.statements.includes('SYSTEM SYNC REPLICA usage_changes LIGHTWEIGHT'),
    );
    await service.kill();
  });

  it('is refused without a name that statements can bear, and for the embedded engine', () => {
    expect(replicationOf({ ...enabled, CLICKHOUSE_CLUSTER_NAME: cluster })).toEqual({ cluster });
    expect(() => replicationOf({ ...enabled, CLICKHOUSE_CLUSTER_NAME: 'a-b' })).toThrow('hyphen');
    expect(() => replicationOf(enabled)).toThrow('CLICKHOUSE_CLUSTER_NAME');
    expect(() => replicationOf({ CLICKHOUSE_REPLICATION_ENABLED: true })).toThrow('CLICKHOUSE_URL');
  });
});
