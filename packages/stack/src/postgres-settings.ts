import { randomBytes } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ProcessSpec } from './managed-process.ts';
import { baseEnvironment } from './managed-process.ts';
import { freePort } from './ports.ts';
import type { SluiceSecrets } from './sluice-settings.ts';

export interface PostgresSettings {
  dataDir: string;
  port: number;
  user: string;
  password: string;
  /** Without it nothing is flushed to disk: for tests only. */
  durable: boolean;
  /** Where the server's programs lie; without it those of the npm package run. */
  binDir?: string;
}

/** The embedded Postgres of an installation. */
export function installedPostgres(installation: {
  dataDir: string;
  port: number;
  secrets: SluiceSecrets;
}): PostgresSettings {
  return {
    dataDir: join(resolve(installation.dataDir), 'postgres'),
    port: installation.port,
    user: 'sluice',
    password: installation.secrets.postgres_password,
    durable: true,
  };
}

/** One on a free port that flushes nothing to disk, for who deletes the folder when done. */
export async function throwawayPostgres(folder: string): Promise<PostgresSettings> {
  // Postgres may run as another user, who must be able to pass.
  await chmod(folder, 0o711);
  return {
    dataDir: join(folder, 'data'),
    port: await freePort(),
    user: 'postgres',
    password: randomBytes(16).toString('hex'),
    durable: false,
  };
}

/** The embedded Postgres as a process that `startProcess` and `supervise` run. */
export function postgresSpec(
  settings: PostgresSettings,
  onOutput?: ProcessSpec['onOutput'],
): ProcessSpec {
  return {
    name: 'postgres',
    entry: `${import.meta.dirname}/postgres-main.ts`,
    env: { ...baseEnvironment(), SLUICE_POSTGRES: JSON.stringify(settings) },
    // The first start creates the cluster; recovery after a crash takes its time as well.
    onOutput,
  };
}

export function postgresUrl(settings: PostgresSettings, database = 'postgres'): string {
  const { user, password, port } = settings;
  return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}
