import { eachPastRefusals } from '@sluice/object-store';
import type { BatchParts } from './run-batch.ts';

const sweptAtOnce = 50;

/** Empties the store of what was deleted, has expired or was put together. */
export async function sweep({
  register,
  contents,
  store,
}: Pick<BatchParts, 'register' | 'contents' | 'store'>): Promise<void> {
  const { files, batches } = await register.ask(register.files.listObsolete, { max: sweptAtOnce });
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
}
