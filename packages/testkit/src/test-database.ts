import { inject } from 'vitest';
import type {} from './global-setup.ts';
import { createDatabase } from './postgres.ts';

/** The URL of a fresh database on the Postgres that the whole test run shares. */
export function testDatabase(): Promise<string> {
  return createDatabase(inject('postgresUrl'));
}
