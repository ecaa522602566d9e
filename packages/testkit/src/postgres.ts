import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { postgresSpec, postgresUrl, startProcess, throwawayPostgres } from '@sluice/stack';
import { Client } from 'pg';
import { temporaryFolder } from './run-folder.ts';

export interface TestPostgres {
  /** The server's maintenance database. */
  url: string;
  /** The URL of a fresh, empty database. */
  createDatabase(): Promise<string>;
  /** An outage: the server is gone until `resume`, its data and its port are kept. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** A real server in a temporary folder, on a port of its own, that forgets everything when stopped. */
export async function startPostgres(): Promise<TestPostgres> {
  const folder = await temporaryFolder('postgres');
  const settings = await throwawayPostgres(folder);
  let server = await startProcess(postgresSpec(settings));
  const url = postgresUrl(settings);
  return {
    url,
    createDatabase: () => createDatabase(url),
    async halt() {
      await server.stop();
    },
    async resume() {
      server = await startProcess(postgresSpec(settings));
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a database of a random name on the server, empty or a copy of another, and returns its URL. */
export async function createDatabase(serverUrl: string, template?: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    // Its files are copied, not written anew through the log, which takes twice as long where nothing is flushed.
    await client.query(
      `CREATE DATABASE ${name} TEMPLATE ${template ?? 'template1'} STRATEGY FILE_COPY`,
    );
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** For what no service lets anybody do: rows as a test needs them. */
export async function inDatabase<T>(url: string, work: (db: Client) => Promise<T>): Promise<T> {
  const db = new Client({ connectionString: url });
  await db.connect();
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}
