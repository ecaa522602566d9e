import type { ObjectStore } from '@sluice/object-store';
import type { LogExportRow } from './store.ts';

/** Where the parts of an export are. */
export function exportFolder({ organisationId, id }: Pick<LogExportRow, 'organisationId' | 'id'>) {
  return `exports/${organisationId}/${id}/`;
}

/** Each run has keys of its own: what a worker writes that lost its export changes nothing. */
export function partKey(folder: string, run: number, number: number): string {
  return `${folder}${run}-${number}`;
}

/** Deletes what runs up to this one left behind, but for the parts that are kept. */
export async function deleteParts(
  store: ObjectStore,
  folder: string,
  lastRun: number,
  kept: ReadonlySet<string> = new Set(),
): Promise<void> {
  for (let after = ''; ; ) {
    const { keys, hasMore } = await store.list(folder, { after });
    const obsolete = keys.filter((key) => runOf(key.slice(folder.length)) <= lastRun);
    await store.delete(obsolete.filter((key) => !kept.has(key)));
    after = keys.at(-1) ?? '';
    if (!hasMore) return;
  }
}

function runOf(name: string): number {
  return Number.parseInt(name, 10);
}
