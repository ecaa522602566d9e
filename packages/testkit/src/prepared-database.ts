import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Client } from 'pg';
import { inject } from 'vitest';
import type {} from './global-setup.ts';
import { createDatabase } from './postgres.ts';
import { runFile } from './run-folder.ts';

/**
 * A database of the test's own on the shared server, like one that is prepared
 * once in the run: whoever asks first prepares it, all get a copy, and what
 * `prepare` made known of it. It must have closed its connections.
 */
export async function preparedDatabase<Note>(
  name: string,
  prepare: (databaseUrl: string) => Promise<Note>,
): Promise<{ databaseUrl: string; note: Note }> {
  const serverUrl = inject('postgresUrl');
  const prepared = runFile(`database-${name}.json`);
  if (!existsSync(prepared)) await prepareOnce(serverUrl, prepared, prepare);
  const { template, note } = JSON.parse(readFileSync(prepared, 'utf8')) as Prepared<Note>;
  return { databaseUrl: await createDatabase(serverUrl, template), note };
}

interface Prepared<Note> {
  /** The database that is copied. */
  readonly template: string;
  readonly note: Note;
}

/** Any number will do, as long as every worker uses the same. */
const lockId = 7_271_640_399;

async function prepareOnce<Note>(
  serverUrl: string,
  file: string,
  prepare: (databaseUrl: string) => Promise<Note>,
): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [lockId]);
    // Another worker may have been first.
    if (existsSync(file)) return;
    const url = await createDatabase(serverUrl);
    const note = (await prepare(url)) ?? null;
    const template = new URL(url).pathname.slice(1);
    writeFileSync(file, JSON.stringify({ template, note }));
  } finally {
    await client.end();
  }
}
