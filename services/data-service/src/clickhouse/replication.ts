import type { ClickHouseClient } from '@clickhouse/client';
import { bool, optionalText, SettingsError } from '@sluice/env';

/** How a server is one of several that hold the same. */
export interface Replication {
  /** As the servers' `remote_servers` name it. */
  readonly cluster: string;
}

/** Also of the command that makes the schema. */
export const replicationSettings = {
  CLICKHOUSE_REPLICATION_ENABLED: bool(
    'the server is one of several replicas: tables are made on all of them',
    false,
  ),
  CLICKHOUSE_CLUSTER_NAME: optionalText(
    'of the replicas, as their `remote_servers` has it: letters, digits and `_`',
  ),
};

/** @throws Error in words for whoever sets them, when the settings do not go together */
export function replicationOf(env: {
  readonly CLICKHOUSE_REPLICATION_ENABLED: boolean;
  readonly CLICKHOUSE_CLUSTER_NAME?: string | undefined;
  readonly CLICKHOUSE_URL?: string | undefined;
}): Replication | undefined {
  if (!env.CLICKHOUSE_REPLICATION_ENABLED) return undefined;
  if (env.CLICKHOUSE_URL === undefined)
    throw new SettingsError([
      'CLICKHOUSE_REPLICATION_ENABLED needs CLICKHOUSE_URL: the embedded engine has no replicas.',
    ]);
  const cluster = env.CLICKHOUSE_CLUSTER_NAME;
  if (cluster === undefined || !/^[a-z_]\w*$/i.test(cluster))
    throw new SettingsError([
      'CLICKHOUSE_REPLICATION_ENABLED needs CLICKHOUSE_CLUSTER_NAME: letters, digits and `_`, no hyphen.',
    ]);
  return { cluster };
}

/**
 * A statement of the schema as replicas take it: on all servers of the cluster, each table kept alike by them. The path in
 * Keeper and the replica's name are the servers' own (`default_replica_path`). What fills a table is run once, and replicated.
 * Without a cluster the database itself brings statements to all ("Replicated" as its engine), and refuses to be told so again.
 */
export function replicatedStatement(statement: string, cluster: string | undefined): string {
  const place = cluster === undefined ? '' : ` ON CLUSTER ${cluster}`;
  if (/^INSERT INTO \w+$/m.test(statement)) return statement;
  const named = statement.replace(
    /^(CREATE TABLE IF NOT EXISTS \w+|CREATE MATERIALIZED VIEW IF NOT EXISTS \w+|ALTER TABLE \w+)/m,
    `$1${place}`,
  );
  const isKnown = /^(CREATE TABLE|CREATE MATERIALIZED VIEW|ALTER TABLE) /m.test(named);
  if (!isKnown) throw new Error(`No replica knows what to do with: ${statement.slice(0, 200)}`);
  return named.replace(/^(\s*)ENGINE = (\w*MergeTree)/m, '$1ENGINE = Replicated$2');
}

/** What statements name: undefined where the database brings them to all replicas itself. */
export async function clusterOfStatements(
  client: ClickHouseClient,
  { cluster }: Replication,
): Promise<string | undefined> {
  const result = await client.query({
    query: 'SELECT engine FROM system.databases WHERE name = currentDatabase()',
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ engine: string }>();
  return row?.engine === 'Replicated' ? undefined : cluster;
}

/** What an insert that most replicas have says about this one: nothing, until it has caught up. */
const followedTables = [
  'usage_records',
  'usage_adjustments',
  'feedbacks',
  'usage_changes',
  'usage_rolls',
  'settled_entries',
  'usage_rollups',
  'replica_lives',
  'replica_numbers',
  'ledger_seals',
  'retention_cutoffs',
];

/**
 * Waits until this replica has all that was stored when it was asked. What is computed from rows for good (roll-ups, seals, what
 * may be deleted) asks first: after the address has moved to another replica, that one may lack rows which were answered for.
 */
export async function catchUp(client: ClickHouseClient): Promise<void> {
  for (const table of followedTables)
    await client.command({ query: `SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT` });
}
