import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../settings.ts';

/** As it is told, or else kept on disk, so that a replica has the same name after a restart. */
export function replicaName(env: Env): string {
  if (env.REPLICA_ID !== undefined) return env.REPLICA_ID;
  const path = join(env.DATA_DIR, 'replica-id');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    const id = randomBytes(6).toString('hex');
    writeFileSync(path, `${id}\n`, { mode: 0o600 });
    return id;
  }
}
