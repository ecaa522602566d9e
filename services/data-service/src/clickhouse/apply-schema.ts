import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';

/** The numbered files of this service. */
export const schemaFolder = join(import.meta.dirname, '../../schema');

/**
 * Applies the numbered files that this database has not seen, in order, and
 * returns their names. Each holds one statement that may run twice, because two
 * replicas can start at once. An applied file that changed since is an error.
 */
export async function applySchema(client: ClickHouseClient, folder: string): Promise<string[]> {
  await client.command({ query: ownTable });
  const seen = await appliedDigests(client);
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  const applied: string[] = [];
  for (const name of names) {
    const query = await readFile(join(folder, name), 'utf8');
    const digest = createHash('sha256').update(query).digest('hex');
    const known = seen.get(name);
    if (known === digest) continue;
    if (known !== undefined)
      throw new Error(`${name} was applied with other content; add a new file instead.`);
    await client.command({ query });
    await client.insert({
      table: 'schema_files',
      values: [{ name, digest }],
      format: 'JSONEachRow',
    });
    applied.push(name);
  }
  return applied;
}

const ownTable = `
  CREATE TABLE IF NOT EXISTS schema_files
  (name String, digest String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'))
  ENGINE = ReplacingMergeTree ORDER BY name`;

async function appliedDigests(client: ClickHouseClient): Promise<Map<string, string>> {
  const result = await client.query({
    query: 'SELECT name, digest FROM schema_files FINAL',
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ name: string; digest: string }>();
  return new Map(rows.map((row) => [row.name, row.digest]));
}
