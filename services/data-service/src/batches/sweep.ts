import { eachPastRefusals } from '@sluice/object-store';
import type { BatchParts } from './run-batch.ts';

const sweptAtOnce = 50;

/**
 * Empties the store of what was deleted, has expired or was put together, some each time. What the store
 * refuses stays where it is: the next time begins behind it, and comes to it again when all others were looked at.
 */
export function sweeper({
  register,
  contents,
  store,
}: Pick<BatchParts, 'register' | 'contents' | 'store'>): () => Promise<void> {
  let after = { filesAfter: '', batchesAfter: '' };
  return async () => {
    const request = { max: sweptAtOnce, ...after };
    const { files, batches } = await register.ask(register.files.listObsolete, request);
    after = { filesAfter: lastOf(files), batchesAfter: lastOf(batches) };
    const emptied = { files: [] as string[], batches: [] as string[] };
    const removals = [
      ...files.map((id) => () => contents.delete(id).then(() => emptied.files.push(id))),
      ...batches.map((id) => () => store.deleteAll(id).then(() => emptied.batches.push(id))),
    ];
    const fault = await eachPastRefusals(removals, async (remove) => void (await remove())).catch(
      (error: unknown) => ({ error }),
    );
    if (emptied.files.length + emptied.batches.length > 0)
      await register.ask(register.files.noteEmptied, emptied);
    if (fault !== undefined) throw fault.error;
  };
}

/** Empty where there are no more behind it. */
function lastOf(ids: readonly string[]): string {
  return ids.length < sweptAtOnce ? '' : (ids.at(-1) ?? '');
}
