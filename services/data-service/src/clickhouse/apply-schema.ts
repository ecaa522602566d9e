import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { protocol, release, storeMismatch } from '@sluice/rpc';
import { clusterOfStatements, type Replication, replicatedStatement } from './replication.ts';

/** The numbered files of this service. */
export const schemaFolder = join(import.meta.dirname, '../../schema');

export interface ApplyOptions {
  replication?: Replication | undefined;
  /** Told of each file when it is done. */
  onApplied?: (name: string) => void;
}

/**
 * Applies the numbered files that this database has not seen, in order, and
 * returns their names. Each holds one statement that may run twice: what was cut
 * off goes on, and two that start at once do no harm. An applied file that changed since is an error.
 * For replicas the same files are said to all of them.
 */
export async function applySchema(
  client: ClickHouseClient,
  folder: string,
  { replication, onApplied }: ApplyOptions = {},
): Promise<string[]> {
  const cluster =
    replication === undefined ? undefined : await clusterOfStatements(client, replication);
  const run = async (statement: string) => {
    const query = replication === undefined ? statement : replicatedStatement(statement, cluster);
    await client.command({ query });
  };
  const note = (name: string, digest: string) =>
    client.insert({ table: 'schema_files', values: [{ name, digest }], format: 'JSONEachRow' });
  await run(ownTable);
  const seen = await appliedDigests(client);
  refuseTooNew(seen);
  const missing = await filesToApply(seen, folder);
  for (const { name, query, digest } of missing) {
    await run(query);
    await note(name, digest);
    onApplied?.(name);
  }
  if (!seen.has(releaseRow)) await note(releaseRow, release);
  return missing.map(({ name }) => name);
}

/**
 * The files that this database lacks; changes nothing. Those of a later release do not count.
 * @throws Error in words for operators when it is of a release that this one cannot know
 */
export async function missingSchema(client: ClickHouseClient, folder: string): Promise<string[]> {
  const found = await client.query({ query: 'EXISTS TABLE schema_files', format: 'JSONEachRow' });
  const [row] = await found.json<{ result: number }>();
  if (row?.result !== 1) return (await readSchema(folder)).map(({ name }) => name);
  const seen = await appliedDigests(client);
  refuseTooNew(seen);
  return (await filesToApply(seen, folder)).map(({ name }) => name);
}

/** A release stands beside the files it brought, also when it brought none: `protocol 2`, with its name for a digest. */
const releaseRow = `protocol ${protocol}`;

function refuseTooNew(seen: ReadonlyMap<string, string>): void {
  for (const [name, release] of seen) {
    const of = /^protocol (\d+)$/.exec(name);
    const refusal =
      of === null
        ? undefined
        : storeMismatch('the ledger in ClickHouse', { release, protocol: Number(of[1]) });
    if (refusal !== undefined) throw new Error(refusal);
  }
}

interface SchemaFile {
  name: string;
  query: string;
  digest: string;
}

async function filesToApply(
  seen: ReadonlyMap<string, string>,
  folder: string,
): Promise<SchemaFile[]> {
  const files = await readSchema(folder);
  return files.filter(({ name, digest }) => {
    const known = seen.get(name);
    if (known !== undefined && known !== digest)
      throw new Error(`${name} was applied with other content; add a new file instead.`);
    return known === undefined;
  });
}

async function readSchema(folder: string): Promise<SchemaFile[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const query = await readFile(join(folder, name), 'utf8');
      return { name, query, digest: createHash('sha256').update(query).digest('hex') };
    }),
  );
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
