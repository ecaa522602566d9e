import { resolve } from 'node:path';
import { runOnce } from './run-once.ts';

const entry = resolve(import.meta.dirname, '../../../scripts/migrate.ts');

/** `npm run migrate` for the database of this installation. @throws Error with what it said */
export async function migrateDatabase(env: Record<string, string | undefined>): Promise<void> {
  await runOnce('Bringing the stores up to date', entry, env);
}
