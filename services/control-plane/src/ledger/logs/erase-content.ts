import { eachPastRefusals, logFolder, logOfKey, type ObjectStore } from '@sluice/object-store';
import type { Database } from '../../kernel/database/client.ts';
import { listKeptDays } from './store.ts';

export interface EraseParts {
  readonly db: Database;
  readonly store: Pick<ObjectStore, 'list' | 'delete'>;
  readonly now: Date;
}

/**
 * Erases the bodies of requests that are older than their organisation keeps
 * them. A key names its time, in both layouts, and keys are listed in the order
 * of time: only what is to go is looked at, and what comes behind it.
 */
export async function eraseContent(parts: EraseParts, signal: AbortSignal): Promise<void> {
  const { db, store, now } = parts;
  await eachPastRefusals(await listKeptDays(db), ({ id, keptDays }) =>
    eachPastRefusals(
      keysBefore(id, now.getTime() - keptDays * dayMs, parts, signal),
      (keys: readonly string[]) => store.delete(keys),
    ),
  );
}

/** A page of them at a time. */
async function* keysBefore(
  organisationId: string,
  beforeMs: number,
  { store, now }: EraseParts,
  signal: AbortSignal,
): AsyncGenerator<readonly string[], undefined> {
  const folder = logFolder(organisationId);
  let after = '';
  while (!signal.aborted) {
    const { keys, hasMore } = await store.list(folder, { after });
    const old: string[] = [];
    let next: string | undefined;
    for (const key of keys) {
      after = key;
      const log = logOfKey(key);
      // What others put there is theirs.
      if (log === undefined) continue;
      if (log.atMs < beforeMs) old.push(key);
      else {
        next = behindYounger(key, folder, now);
        break;
      }
    }
    if (old.length > 0) yield old;
    if (next !== undefined) after = next;
    else if (!hasMore) return undefined;
  }
  return undefined;
}

/** Where the listing goes on when it has met a log that stays: all behind it in its folder are younger. */
function behindYounger(key: string, folder: string, now: Date): string {
  const slash = key.indexOf('/', folder.length);
  // Years are digits.
  if (slash >= 0) return `${key.slice(0, slash)}/~`;
  const hex = (now.getTime() + dayMs).toString(16).padStart(12, '0');
  return `${folder}${hex.slice(0, 8)}-${hex.slice(8)}`;
}

const dayMs = 86_400_000;
